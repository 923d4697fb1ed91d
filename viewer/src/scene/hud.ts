// Directions of the axes and a length for comparison, in the lower left corner.
import * as THREE from 'three';
import { axisColours, css, type Palette, type Rgb } from './colours';
import { roundBelow, shortNumber } from './numbers';

/** An arrow of one unit is `length` metres long. */
export interface ArrowKey {
  colour: Rgb;
  unit: string;
  length: number;
}

export interface HudText {
  camera: THREE.Camera;
  pixelsPerMetre: number; // in pixels of the picture
  isPerspective: boolean;
  palette: Palette;
  arrows: ArrowKey[];
}

const size = { width: 280, height: 100 };

/** A text that can be read on anything. */
export function haloText(context: CanvasRenderingContext2D, text: string, x: number, y: number, palette: Palette): void {
  const size = parseFloat(context.font.replace(/^\d+ (?=\d)/, '')) || 12; // after the weight, if there is one
  context.save();
  context.lineJoin = 'round';
  context.lineWidth = size / 4;
  context.strokeStyle = css(palette.background, 0.8);
  context.strokeText(text, x, y);
  context.restore();
  context.fillText(text, x, y);
}

/** Draws with the lower left corner at (left, bottom); `unit` pixels per pixel of the design. */
export function drawHud(context: CanvasRenderingContext2D, left: number, bottom: number, unit: number, text: HudText): void {
  context.save();
  context.translate(left, bottom);
  context.scale(unit, unit);
  context.font = '12px system-ui, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.lineCap = 'round';
  drawAxes(context, text);
  drawBar(context, text.pixelsPerMetre / unit, text);
  text.arrows.forEach((arrow, i) => drawArrow(context, arrow, text.pixelsPerMetre / unit, text, -50 - 19 * i));
  context.restore();
}

function drawAxes(context: CanvasRenderingContext2D, { camera, palette }: HudText): void {
  const toCamera = new THREE.Quaternion().setFromRotationMatrix(camera.matrixWorld).invert();
  const axes = [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, 1, 0), new THREE.Vector3(0, 0, 1)].map((axis, i) => ({
    end: axis.applyQuaternion(toCamera),
    colour: css(axisColours[i]!.map((c, k) => 0.75 * c + 0.25 * palette.text[k]!) as Rgb), // brighter on dark ground
    name: ['x', 'y', 'z'][i]!,
  }));
  const [x, y, length] = [46, -46, 28];
  context.lineWidth = 2.5;
  for (const { end, colour, name } of axes.sort((a, b) => a.end.z - b.end.z)) {
    context.strokeStyle = context.fillStyle = colour;
    if (Math.hypot(end.x, end.y) > 0.12) {
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + length * end.x, y - length * end.y);
      context.stroke();
      haloText(context, name, x + (length + 10) * end.x, y - (length + 10) * end.y, palette);
    } else {
      context.beginPath();
      context.arc(x, y, 3, 0, 2 * Math.PI);
      context.fill();
    }
  }
}

/** A round length of about 100 pixels; in perspective it holds at the point that is looked at. */
function drawBar(context: CanvasRenderingContext2D, pixelsPerMetre: number, { palette, isPerspective }: HudText): void {
  const length = roundBelow(130 / pixelsPerMetre);
  const width = length * pixelsPerMetre;
  if (!(width > 5 && width < 200)) return;
  const [x, y] = [96, -20];
  context.strokeStyle = context.fillStyle = css(palette.text);
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x, y - 5);
  context.lineTo(x, y);
  context.lineTo(x + width, y);
  context.lineTo(x + width, y - 5);
  context.stroke();
  haloText(context, `${isPerspective ? '≈ ' : ''}${shortNumber(length)} m`, x + width / 2, y - 10, palette);
}

/** A round force as an arrow, with its size behind it. */
function drawArrow(context: CanvasRenderingContext2D, arrow: ArrowKey, pixelsPerMetre: number, text: HudText, y: number): void {
  const pixels = arrow.length * pixelsPerMetre;
  const size = roundBelow(60 / pixels);
  const [x, width] = [96, size * pixels];
  if (!(width > 5)) return;
  context.strokeStyle = context.fillStyle = css(arrow.colour);
  context.lineWidth = 2.5;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + width - 5, y);
  context.stroke();
  context.beginPath();
  context.moveTo(x + width, y);
  context.lineTo(x + width - 9, y - 4);
  context.lineTo(x + width - 9, y + 4);
  context.fill();
  context.fillStyle = css(text.palette.text);
  context.textAlign = 'left';
  haloText(context, `${text.isPerspective ? '≈ ' : ''}${shortNumber(size)} ${arrow.unit}`, x + width + 8, y, text.palette);
}

/** The same as a part of the picture on the graphics card. */
export class Hud {
  private readonly canvas = document.createElement('canvas');
  private readonly texture = new THREE.CanvasTexture(this.canvas);
  private readonly scene = new THREE.Scene();
  private readonly camera = new THREE.OrthographicCamera(0, 1, 1, 0, -1, 1);
  private readonly sprite: THREE.Sprite;

  constructor() {
    this.texture.colorSpace = THREE.SRGBColorSpace;
    this.texture.generateMipmaps = false;
    this.texture.minFilter = this.texture.magFilter = THREE.LinearFilter;
    this.sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map: this.texture, depthTest: false, depthWrite: false }));
    this.sprite.center.set(0, 0);
    this.scene.add(this.sprite);
  }

  render(renderer: THREE.WebGLRenderer, width: number, height: number, text: HudText): void {
    const ratio = renderer.getPixelRatio();
    const [w, h] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
      this.texture.dispose();
    }
    const context = this.canvas.getContext('2d')!;
    context.clearRect(0, 0, w, h);
    drawHud(context, 0, h, ratio, text);
    this.texture.needsUpdate = true;
    this.sprite.scale.set(w, h, 1);
    Object.assign(this.camera, { right: Math.round(width * ratio), top: Math.round(height * ratio) });
    this.camera.updateProjectionMatrix();
    renderer.autoClear = false;
    renderer.clearDepth();
    renderer.render(this.scene, this.camera);
    renderer.autoClear = true;
  }

  dispose(): void {
    this.texture.dispose();
    this.sprite.material.dispose();
  }
}
