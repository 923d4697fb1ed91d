// What is under the pointer: the scene is drawn once into a single pixel with ids for colours, and once with depths.
import * as THREE from 'three';
import { depthOf, idOf, modes, type SharedUniforms } from './shading';

export interface Hit {
  id: number;
  point: THREE.Vector3;
}

export class Picker {
  private readonly target = new THREE.WebGLRenderTarget(1, 1, { depthBuffer: true });
  private readonly bytes = new Uint8Array(4);

  constructor(
    private readonly renderer: THREE.WebGLRenderer,
    private readonly scene: THREE.Scene,
    private readonly shared: SharedUniforms,
  ) {}

  /** The nearest thing at a point of the picture [CSS pixels]; what is hollow is looked through unless there is nothing else. */
  pick(camera: THREE.PerspectiveCamera | THREE.OrthographicCamera, x: number, y: number, width: number, height: number): Hit | null {
    const { background } = this.scene;
    const { autoUpdate } = this.renderer.shadowMap;
    const layers = camera.layers.mask;
    this.scene.background = null;
    this.renderer.shadowMap.autoUpdate = false;
    const clear = this.renderer.getClearColor(new THREE.Color());
    const alpha = this.renderer.getClearAlpha();
    this.renderer.setClearColor(0x000000, 0);
    camera.setViewOffset(width, height, Math.floor(x), Math.floor(y), 1, 1);
    try {
      for (const layer of [1, 2]) {
        camera.layers.set(layer);
        const id = idOf(this.read(camera, modes.id));
        if (id === 0) continue;
        const depth = depthOf(this.read(camera, modes.depth));
        camera.updateMatrixWorld();
        return { id, point: new THREE.Vector3(0, 0, 2 * depth - 1).unproject(camera) };
      }
      return null;
    } finally {
      this.shared.uMode.value = modes.colour;
      this.renderer.setRenderTarget(null);
      this.renderer.setClearColor(clear, alpha);
      this.renderer.shadowMap.autoUpdate = autoUpdate;
      this.scene.background = background;
      camera.layers.mask = layers;
      camera.clearViewOffset();
    }
  }

  private read(camera: THREE.Camera, mode: number): Uint8Array {
    this.shared.uMode.value = mode;
    this.renderer.setRenderTarget(this.target);
    this.renderer.clear();
    this.renderer.render(this.scene, camera);
    this.renderer.readRenderTargetPixels(this.target, 0, 0, 1, 1, this.bytes);
    return this.bytes;
  }
}
