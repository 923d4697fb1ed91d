// The surface of all solid things: lit, with edges, coloured by a field, marked when picked, and able to show numbers instead of colours.
import * as THREE from 'three';
import { unknownColour, type ColourMap, type Palette, type Rgb } from './colours';

/** In place of NaN, which not every graphics card knows. */
export const unknownValue = -1e30;

export const modes = { colour: 0, id: 1, depth: 2 };

export const toColor = (rgb: Rgb, into = new THREE.Color()): THREE.Color => into.setRGB(...rgb, THREE.SRGBColorSpace);

/** What all surfaces share: one object per picture, changed in place. */
export function makeSharedUniforms() {
  return {
    uMode: { value: modes.colour },
    uEdges: { value: 1 },
    uEdgeColour: { value: new THREE.Color() },
    uHighlightColour: { value: new THREE.Color() },
    uHighlight: { value: -1 }, // id
    uCut: { value: 0 }, // 1: insides that a cut opens are drawn as full
    uUnknownColour: { value: toColor(unknownColour) },
    uMap: { value: mapTexture([unknownColour]) },
    uRange: { value: new THREE.Vector2(0, 1) },
  };
}
export type SharedUniforms = ReturnType<typeof makeSharedUniforms>;

function mapTexture(colours: Rgb[]): THREE.DataTexture {
  const data = new Uint8Array(colours.length * 4);
  colours.forEach((rgb, i) => data.set([...rgb.map((c) => Math.round(c * 255)), 255], 4 * i));
  const texture = new THREE.DataTexture(data, colours.length, 1);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.minFilter = texture.magFilter = THREE.NearestFilter;
  texture.needsUpdate = true;
  return texture;
}

export function setColourMap(shared: SharedUniforms, map: ColourMap): void {
  shared.uMap.value.dispose();
  shared.uMap.value = mapTexture(map.colours);
  shared.uRange.value.set(...map.range);
}

export function setPalette(shared: SharedUniforms, palette: Palette): void {
  toColor(palette.edge, shared.uEdgeColour.value);
  toColor(palette.highlight, shared.uHighlightColour.value);
}

/** Ids as colours: 24 bits in red, green, blue; nothing is zero. */
export const idColour = (id: number): [number, number, number] => [(id >> 16) & 255, (id >> 8) & 255, id & 255];
export const idOf = (bytes: ArrayLike<number>): number => (bytes[0]! << 16) | (bytes[1]! << 8) | bytes[2]!;
export const depthOf = (bytes: ArrayLike<number>): number => idOf(bytes) / 16777215;

export const numberOutput = /* glsl */ `
  vec3 bytesOf(float number) {
    float high = floor(number / 65536.0);
    float middle = floor((number - high * 65536.0) / 256.0);
    return vec3(high, middle, number - high * 65536.0 - middle * 256.0) / 255.0;
  }
`;
export const modeOutput = /* glsl */ `
  if (uMode == 1) gl_FragColor = vec4(bytesOf(floor(vId + 0.5)), 1.0);
  if (uMode == 2) gl_FragColor = vec4(bytesOf(floor(gl_FragCoord.z * 16777215.0 + 0.5)), 1.0);
`;

const varyings = /* glsl */ `
  varying vec4 vEdge; // distances to the drawn edges (1: not drawn)
  varying float vTone;
  varying vec3 vTint;
  varying float vValue;
  flat varying float vId;
`;

const fragmentDeclarations = /* glsl */ `
  uniform int uMode;
  uniform float uEdges, uHighlight, uTone, uColoured, uCut;
  uniform vec3 uEdgeColour, uHighlightColour, uUnknownColour;
  uniform vec2 uRange;
  uniform sampler2D uMap;
  ${varyings}
  ${numberOutput}
`;

const fragmentColour = /* glsl */ `
  vec3 surface = vTint;
  if (uColoured > 0.5) {
    float part = (vValue - uRange.x) / (uRange.y - uRange.x);
    surface = vValue < -0.9e30 ? uUnknownColour : texture2D(uMap, vec2(clamp(part, 0.0, 1.0), 0.5)).rgb;
  }
  surface *= mix(1.0, uTone, step(0.5, vTone) * uEdges * (uColoured > 0.5 ? 0.4 : 1.0)); // less where colours are values
  vec4 perPixel = max(fwidth(vEdge), vec4(1e-6));
  vec4 pixels = vEdge / perPixel;
  float edge = 1.0 - smoothstep(0.4, 1.3, min(min(pixels.x, pixels.y), min(pixels.z, pixels.w)));
  float fineness = max(max(perPixel.x, perPixel.y), max(perPixel.z, perPixel.w));
  edge *= 1.0 - smoothstep(0.25, 0.6, fineness); // none on faces of few pixels
  surface = mix(surface, uEdgeColour, edge * uEdges * 0.75);
  if (abs(vId - uHighlight) < 0.5) surface = mix(surface, uHighlightColour, 0.65);
  diffuseColor.rgb = surface;
`;

export const mostPlates = 12;

/** Half-spaces n . x <= d (n, d) that hide what of other plates lies in them by more than `uPlateThickness`. */
export const makePlateUniforms = () => ({
  uPlates: { value: Array.from({ length: mostPlates }, () => new THREE.Vector4()) },
  uPlateCount: { value: 0 },
  uPlateThickness: { value: 0 },
});
export type PlateUniforms = ReturnType<typeof makePlateUniforms>;

const plateDeclarations = /* glsl */ `
  uniform vec4 uPlates[${mostPlates}];
  uniform int uPlateCount;
  uniform float uPlateThickness;
  varying vec3 vPlace;
`;
const plateDiscard = /* glsl */ `
  for (int i = 0; i < ${mostPlates}; ++i) {
    if (i < uPlateCount && dot(uPlates[i].xyz, vPlace) < uPlates[i].w - uPlateThickness) discard;
  }
`;

/** Whoever sees the inside of a closed surface looks through the plane that cuts it. */
const fullSection = /* glsl */ `
  if (uCut > 0.5 && !gl_FrontFacing) outgoingLight = 0.7 * diffuseColor.rgb;
`;

export interface Dress {
  shared: SharedUniforms;
  own: Record<string, THREE.IUniform>; // uTone, uColoured and those of the vertex code
  /** Declarations and a function `void place(out vec3 position, out vec3 normal)` that also sets the varyings. */
  vertex: string;
  isTransparent?: boolean;
  /** Seen from its outside only, and not inside of what `plateUniforms` holds. */
  isPlate?: boolean;
}

/** Vertex code of plates: as of solid shapes, and where they are. */
export const plateVertex = (): string =>
  solidVertex
    .replace('void place', 'varying vec3 vPlace;\n  void place')
    .replace('vId = aId;', 'vId = aId;\n    vPlace = (instanceMatrix * vec4(position, 1.0)).xyz;');

/** Vertex code of solid shapes: an instance has a colour, a value and an id. */
export const solidVertex = /* glsl */ `
  attribute vec4 aEdge;
  attribute vec3 aTint;
  attribute float aTone, aValue, aId;
  void place(out vec3 where, out vec3 upright) {
    where = position;
    upright = normal;
    vEdge = aEdge;
    vTone = aTone;
    vTint = aTint;
    vValue = aValue;
    vId = aId;
  }
`;

function patchVertex(shader: THREE.WebGLProgramParametersWithUniforms, dress: Dress): void {
  shader.vertexShader = shader.vertexShader
    .replace('#include <common>', `#include <common>\n${varyings}\n${dress.vertex}`)
    .replace('#include <uv_vertex>', '#include <uv_vertex>\nvec3 placed, uprightOf;\nplace(placed, uprightOf);')
    .replace('#include <begin_vertex>', 'vec3 transformed = placed;');
}

export function dressedMaterial(dress: Dress, key: string): THREE.MeshStandardMaterial {
  const isTransparent = dress.isTransparent ?? false;
  const material = new THREE.MeshStandardMaterial({
    roughness: 0.62,
    metalness: 0,
    side: dress.isPlate ? THREE.FrontSide : THREE.DoubleSide,
    transparent: isTransparent,
    depthWrite: !isTransparent,
    opacity: isTransparent ? 0.22 : 1,
  });
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, dress.shared, dress.own);
    patchVertex(shader, dress);
    shader.vertexShader = shader.vertexShader.replace('#include <beginnormal_vertex>', 'vec3 objectNormal = uprightOf;');
    shader.fragmentShader = shader.fragmentShader
      .replace('#include <common>', `#include <common>\n${fragmentDeclarations}${dress.isPlate ? plateDeclarations : ''}`)
      .replace(
        '#include <color_fragment>',
        `${dress.isPlate ? plateDiscard : ''}${fragmentColour}${isTransparent ? 'diffuseColor.a = max(opacity, edge * uEdges * 0.7);' : ''}`,
      )
      .replace('#include <opaque_fragment>', `${isTransparent ? '' : fullSection}#include <opaque_fragment>`)
      .replace('#include <dithering_fragment>', modeOutput);
  };
  material.customProgramCacheKey = () => `${key} ${isTransparent} ${dress.isPlate ?? false}`;
  return material;
}

/** The same shape as seen by the light, for shadows. */
export function dressedDepthMaterial(dress: Dress, key: string): THREE.MeshDepthMaterial {
  const material = new THREE.MeshDepthMaterial({ depthPacking: THREE.RGBADepthPacking });
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, dress.shared, dress.own);
    patchVertex(shader, dress);
  };
  material.customProgramCacheKey = () => `${key} depth`;
  return material;
}

/** Sets the clipping planes of all things in a group. */
export function cutAway(group: THREE.Object3D, planes: THREE.Plane[]): void {
  group.traverse((thing) => {
    if (thing instanceof THREE.Mesh || thing instanceof THREE.Points) (thing.material as THREE.Material).clippingPlanes = planes;
  });
}
