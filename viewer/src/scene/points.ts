// Round points of a size in pixels: contacts and markers. What lies behind other things shines through faintly.
import * as THREE from 'three';
import { modeOutput, numberOutput, toColor, unknownValue, type SharedUniforms } from './shading';
import type { Rgb } from './colours';

const vertexShader = /* glsl */ `
  attribute vec3 aTint;
  attribute float aValue, aId;
  uniform float uSize;
  varying vec3 vTint;
  varying float vValue;
  flat varying float vId;
  #include <common>
  #include <clipping_planes_pars_vertex>
  void main() {
    vTint = aTint;
    vValue = aValue;
    vId = aId;
    vec4 mvPosition = modelViewMatrix * vec4(position, 1.0);
    gl_Position = projectionMatrix * mvPosition;
    gl_Position.z -= 2e-4 * gl_Position.w; // they lie on surfaces
    gl_PointSize = uSize;
    #include <clipping_planes_vertex>
  }
`;

const fragmentShader = /* glsl */ `
  uniform int uMode;
  uniform float uColoured, uHighlight, uOpacity, uSize;
  uniform vec3 uHighlightColour, uUnknownColour, uEdgeColour;
  uniform vec2 uRange;
  uniform sampler2D uMap;
  varying vec3 vTint;
  varying float vValue;
  flat varying float vId;
  ${numberOutput}
  #include <common>
  #include <clipping_planes_pars_fragment>
  void main() {
    #include <clipping_planes_fragment>
    float r = length(gl_PointCoord - 0.5) * 2.0;
    if (r > 1.0) discard;
    vec3 colour = vTint;
    if (uColoured > 0.5) {
      float part = (vValue - uRange.x) / (uRange.y - uRange.x);
      colour = vValue < -0.9e30 ? uUnknownColour : texture2D(uMap, vec2(clamp(part, 0.0, 1.0), 0.5)).rgb;
    }
    if (abs(vId - uHighlight) < 0.5) colour = uHighlightColour;
    colour = mix(colour, uEdgeColour, 0.8 * smoothstep(1.0 - 3.0 / uSize, 1.0 - 1.5 / uSize, r));
    gl_FragColor = vec4(colour, uOpacity);
    #include <colorspace_fragment>
    ${modeOutput}
  }
`;

export class Points {
  readonly group = new THREE.Group();
  private readonly geometry = new THREE.BufferGeometry();
  private readonly coloured = { value: 0 };
  private readonly size = { value: 8 };
  private readonly colour = new THREE.Color();
  private capacity = 0;
  private count = 0;

  constructor(shared: SharedUniforms) {
    for (const [index, depthFunc] of [THREE.LessEqualDepth, THREE.GreaterDepth].entries()) {
      const material = new THREE.ShaderMaterial({
        vertexShader,
        fragmentShader,
        clipping: true,
        depthFunc,
        depthWrite: index === 0,
        transparent: index === 1,
        uniforms: { ...shared, uColoured: this.coloured, uSize: this.size, uOpacity: { value: index === 0 ? 1 : 0.3 } },
      });
      const points = new THREE.Points(this.geometry, material);
      points.frustumCulled = false;
      points.renderOrder = 1 + index;
      if (index === 0) points.layers.enable(1);
      this.group.add(points);
    }
    this.reserve(16);
  }

  begin(): void {
    this.count = 0;
  }

  add(point: ArrayLike<number>, rgb: Rgb, id: number, value = NaN): void {
    if (this.count === this.capacity) this.reserve(2 * this.capacity);
    const i = this.count++;
    toColor(rgb, this.colour);
    this.attribute('position').setXYZ(i, point[0]!, point[1]!, point[2]!);
    this.attribute('aTint').setXYZ(i, this.colour.r, this.colour.g, this.colour.b);
    this.attribute('aValue').setX(i, Number.isNaN(value) ? unknownValue : value);
    this.attribute('aId').setX(i, id);
  }

  end(isColoured: boolean): void {
    this.coloured.value = isColoured ? 1 : 0;
    this.geometry.setDrawRange(0, this.count);
    for (const name of ['position', 'aTint', 'aValue', 'aId']) this.attribute(name).needsUpdate = true;
    this.group.visible = this.count > 0;
  }

  setPixels(pixels: number): void {
    this.size.value = pixels;
  }

  dispose(): void {
    this.geometry.dispose();
  }

  private attribute(name: string): THREE.BufferAttribute {
    return this.geometry.getAttribute(name) as THREE.BufferAttribute;
  }

  private reserve(capacity: number): void {
    this.geometry.dispose();
    for (const [name, size] of [
      ['position', 3],
      ['aTint', 3],
      ['aValue', 1],
      ['aId', 1],
    ] as const) {
      const array = new Float32Array(size * capacity);
      if (this.capacity > 0) array.set(this.attribute(name).array);
      this.geometry.setAttribute(name, new THREE.BufferAttribute(array, size).setUsage(THREE.DynamicDrawUsage));
    }
    this.capacity = capacity;
  }
}
