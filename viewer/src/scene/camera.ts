// The camera: named views, text form, perspective or orthographic, moved by mouse and touch.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { FilmHeader, Vec3 } from '../film/header';
import type { ViewName } from './stage';

const usualAngle = 35;

export const viewNames: readonly ViewName[] = ['home', 'front', 'back', 'left', 'right', 'top', 'bottom', 'isometric'];

export interface CameraText {
  position: Vec3;
  target: Vec3;
  angle: number;
}

/** Reads "px,py,pz/tx,ty,tz[/fov]". */
export function parseCamera(text: string): CameraText {
  const parts = text.split('/').map((part) => part.split(',').map((word) => (word.trim() === '' ? NaN : Number(word))));
  const [position, target, angle] = parts;
  const isPoint = (p: number[] | undefined) => p?.length === 3 && p.every(Number.isFinite);
  const fov = angle ? angle[0]! : usualAngle;
  if (parts.length > 3 || !isPoint(position) || !isPoint(target) || !(fov > 0 && fov < 180) || (angle && angle.length !== 1)) {
    throw new Error(`The camera "${text}" is none of ${viewNames.join(', ')} and not of the form px,py,pz/tx,ty,tz[/angle].`);
  }
  if (position!.every((x, i) => x === target![i])) throw new Error(`The camera "${text}" looks at the point where it is.`);
  return { position: position as Vec3, target: target as Vec3, angle: fov };
}

/** Numbers short enough to read, exact enough to come back to the same picture. */
const short = (x: number) => String(Number(x.toPrecision(6)));

/** The directions right, up and towards the viewer of the front view: x goes to the right if it can. */
export function frontView(upwards: Vec3): { right: THREE.Vector3; up: THREE.Vector3; toViewer: THREE.Vector3 } {
  const up = new THREE.Vector3(...upwards);
  if (!(up.length() > 0)) up.set(0, 0, 1);
  up.normalize();
  const right = Math.abs(up.x) < 0.9 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 1, 0);
  right.addScaledVector(up, -right.dot(up)).normalize();
  return { right, up, toViewer: right.clone().cross(up) };
}

export class CameraRig {
  private readonly perspective = new THREE.PerspectiveCamera(usualAngle, 1, 0.01, 100);
  private readonly parallel = new THREE.OrthographicCamera();
  private controls: OrbitControls;
  private isParallel = false;
  private aspect = 1;
  private name: ViewName | null = 'home';
  private readonly box: THREE.Box3;
  private isQuiet = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly header: FilmHeader,
    private readonly onChange: (byUser: boolean) => void,
  ) {
    this.box = new THREE.Box3(new THREE.Vector3(...header.bounds[0]), new THREE.Vector3(...header.bounds[1]));
    const size = this.box.getSize(new THREE.Vector3()).length();
    if (!(size > 0) || !Number.isFinite(size)) {
      this.box.setFromCenterAndSize(new THREE.Vector3(), new THREE.Vector3(1, 1, 1).multiplyScalar(header.extent || 1));
    }
    const { up } = frontView(header.up);
    for (const camera of [this.perspective, this.parallel]) {
      camera.up.copy(up);
      camera.layers.enable(1);
      camera.layers.enable(2);
    }
    this.isParallel = header.planar;
    this.controls = this.makeControls();
    this.view('home');
  }

  get camera(): THREE.PerspectiveCamera | THREE.OrthographicCamera {
    return this.isParallel ? this.parallel : this.perspective;
  }
  get target(): THREE.Vector3 {
    return this.controls.target;
  }
  get isOrthographic(): boolean {
    return this.isParallel;
  }
  get distance(): number {
    return this.camera.position.distanceTo(this.target);
  }

  /** Pixels per metre at the target, in a picture `height` pixels high. */
  pixelsPerMetre(height: number): number {
    return height / (2 * this.distance * this.tangent());
  }

  setAspect(aspect: number): void {
    const wasNamed = this.name;
    this.aspect = aspect;
    if (wasNamed) this.view(wasNamed);
    this.project();
  }

  view(name: ViewName): void {
    const { right, up, toViewer } = frontView(this.header.up);
    const mix = (r: number, u: number, v: number) =>
      new THREE.Vector3().addScaledVector(right, r).addScaledVector(up, u).addScaledVector(toViewer, v).normalize();
    const directions: Record<ViewName, THREE.Vector3> = {
      home: this.header.planar ? toViewer : mix(0.45, 0.42, 1),
      front: toViewer,
      back: mix(0, 0, -1),
      left: mix(-1, 0, 0),
      right,
      top: mix(0, 1, 1e-4),
      bottom: mix(0, -1, 1e-4),
      isometric: mix(1, 1, 1),
    };
    this.perspective.fov = usualAngle;
    this.lookFrom(directions[name]);
    this.name = name;
  }

  text(): string {
    if (this.name) return this.name;
    const [x, y, z] = this.header.origin;
    const noise = 1e-9 * this.distance;
    const point = (p: THREE.Vector3) => [p.x + x, p.y + y, p.z + z].map((c) => (Math.abs(c) < noise ? '0' : short(c))).join(',');
    const angle = Math.abs(this.perspective.fov - usualAngle) < 1e-9 ? '' : `/${short(this.perspective.fov)}`;
    return `${point(this.camera.position)}/${point(this.target)}${angle}`;
  }

  setText(text: string): void {
    const name = viewNames.find((known) => known === text.trim());
    if (name) return this.view(name);
    const { position, target, angle } = parseCamera(text);
    const origin = new THREE.Vector3(...this.header.origin);
    this.perspective.fov = angle;
    this.move(new THREE.Vector3(...position).sub(origin), new THREE.Vector3(...target).sub(origin));
  }

  orthographic(on: boolean): void {
    if (on === this.isParallel) return;
    const { name } = this;
    const [position, target] = [this.camera.position.clone(), this.target.clone()];
    this.controls.dispose();
    this.isParallel = on;
    this.controls = this.makeControls();
    this.move(position, target);
    this.name = name;
  }

  /** Moves the camera and what it looks at. */
  shift(by: THREE.Vector3): void {
    this.move(this.camera.position.clone().add(by), this.target.clone().add(by));
  }

  /** Between a millionth and a thousand times the size of the model. */
  zoom(factor: number): void {
    const away = this.camera.position.clone().sub(this.target);
    away.setLength(Math.min(1e3 * this.header.extent, Math.max(1e-6 * this.header.extent, away.length() / factor)));
    this.move(this.target.clone().add(away), this.target.clone());
  }

  orbit(azimuth: number, elevation: number): void {
    const { right, up, toViewer } = frontView(this.header.up);
    const away = this.camera.position.clone().sub(this.target);
    const length = away.length();
    const [r, u, v] = [away.dot(right), away.dot(up), away.dot(toViewer)];
    const turned = Math.atan2(r, v) + azimuth;
    const high = Math.max(-1.5707, Math.min(1.5707, Math.asin(Math.max(-1, Math.min(1, u / length))) + elevation));
    away
      .copy(right)
      .multiplyScalar(Math.cos(high) * Math.sin(turned))
      .addScaledVector(toViewer, Math.cos(high) * Math.cos(turned))
      .addScaledVector(up, Math.sin(high))
      .multiplyScalar(length);
    this.move(this.target.clone().add(away), this.target.clone());
  }

  /** By parts of the picture's height. */
  pan(right: number, up: number): void {
    const height = 2 * this.distance * this.tangent();
    const { camera } = this;
    camera.updateMatrixWorld();
    const x = new THREE.Vector3().setFromMatrixColumn(camera.matrixWorld, 0).multiplyScalar(right * height);
    const y = new THREE.Vector3().setFromMatrixColumn(camera.matrixWorld, 1).multiplyScalar(up * height);
    this.shift(x.add(y));
  }

  /** Near and far planes, angle and size of the picture. */
  project(): void {
    const { distance } = this;
    const radius = this.box.getSize(new THREE.Vector3()).length() / 2 + this.header.extent;
    const away = this.camera.position.distanceTo(this.box.getCenter(new THREE.Vector3()));
    const far = away + 4 * radius;
    if (this.isParallel) {
      const height = distance * this.tangent();
      Object.assign(this.parallel, {
        left: -height * this.aspect,
        right: height * this.aspect,
        top: height,
        bottom: -height,
        near: Math.min(0, away - 4 * radius),
        far,
      });
    } else {
      this.perspective.aspect = this.aspect;
      this.perspective.far = far;
      this.perspective.near = Math.max(far * 1e-4, Math.min(distance * 0.05, away - 4 * radius));
    }
    this.camera.updateProjectionMatrix();
  }

  dispose(): void {
    this.controls.dispose();
  }

  private tangent(): number {
    return Math.tan(((this.perspective.fov / 2) * Math.PI) / 180);
  }

  private makeControls(): OrbitControls {
    const controls = new OrbitControls(this.camera, this.canvas);
    controls.enableDamping = false; // it would need a loop of drawing
    controls.screenSpacePanning = true;
    controls.addEventListener('change', () => {
      if (this.isQuiet) return;
      this.name = null;
      if (this.isParallel && this.parallel.zoom !== 1) this.foldZoom();
      this.project();
      this.onChange(true);
    });
    return controls;
  }

  /** The wheel sets a parallel camera's zoom; distance stands for it here, so that both cameras have one text form. */
  private foldZoom(): void {
    const away = this.parallel.position.clone().sub(this.target).divideScalar(this.parallel.zoom);
    this.parallel.zoom = 1;
    this.isQuiet = true;
    this.parallel.position.copy(this.target).add(away);
    this.controls.update();
    this.isQuiet = false;
  }

  private move(position: THREE.Vector3, target: THREE.Vector3): void {
    this.name = null;
    this.isQuiet = true;
    this.controls.target.copy(target);
    this.camera.position.copy(position);
    this.camera.lookAt(target);
    this.controls.update();
    this.isQuiet = false;
    this.project();
    this.onChange(false);
  }

  /** From this direction, so near that all of the scene is in the picture. */
  private lookFrom(direction: THREE.Vector3): void {
    const centre = this.box.getCenter(new THREE.Vector3());
    const { up } = frontView(this.header.up);
    const right = up.clone().cross(direction).normalize();
    const above = direction.clone().cross(right);
    const tangent = this.tangent() * 0.88; // a margin all round
    let distance = 0.02 * this.header.extent;
    const corner = new THREE.Vector3();
    for (let i = 0; i < 8; ++i) {
      const { min, max } = this.box;
      corner.set(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z).sub(centre);
      const half = Math.max(Math.abs(corner.dot(above)), Math.abs(corner.dot(right)) / Math.max(0.2, this.aspect));
      distance = Math.max(distance, half / tangent + (this.isParallel ? 0 : corner.dot(direction)));
    }
    this.move(centre.clone().addScaledVector(direction, distance), centre);
  }
}
