// Texts in the scene, of constant size in the picture. They are drawn by the browser's text engine, so a name can hold anything.
import * as THREE from 'three';
import { css, type Rgb } from './colours';

const fontSize = 13;
/** Of the axes and the scale, which is usually shorter than they are allowed to be. */
const hudSize = { width: 220, height: 66 };
const sharpness = 2; // pixels of the texture per pixel of the picture

export interface Label {
  text: string;
  at: ArrayLike<number>;
  colour: Rgb;
  halo: Rgb;
  /** Point of the text that lies on `at`, in its width and height; the middle of the lower edge is (0.5, 0). */
  anchor?: [number, number];
  isHidden?: boolean; // by what is before it
}

interface Entry {
  sprite: THREE.Sprite;
  width: number;
  height: number;
}

export class Labels {
  readonly group = new THREE.Group();
  private readonly entries = new Map<string, Entry>();

  /** Shows these and no others. */
  set(labels: Label[]): void {
    const wanted = new Set<string>();
    labels.forEach((label, i) => {
      const key = `${i} ${label.text} ${label.colour.join()} ${label.halo.join()}`;
      wanted.add(key);
      let entry = this.entries.get(key);
      if (!entry) {
        entry = this.make(label);
        this.entries.set(key, entry);
        this.group.add(entry.sprite);
      }
      entry.sprite.position.set(label.at[0]!, label.at[1]!, label.at[2]!);
    });
    for (const [key, entry] of this.entries) if (!wanted.has(key)) this.remove(key, entry);
  }

  /** Keeps the size of the texts in the picture: `metresPerPixel` at distance 1 (perspective) or everywhere. */
  fit(metresPerPixel: number): void {
    for (const { sprite, width, height } of this.entries.values()) sprite.scale.set(width * metresPerPixel, height * metresPerPixel, 1);
  }

  /** Hides texts that would lie on others which come before them, or in the lower left corner, where the axes and the scale are. */
  declutter(camera: THREE.Camera, metresPerPixel: number): void {
    camera.updateMatrixWorld();
    const { elements } = camera.projectionMatrix;
    const pictureHeight = 2 / (elements[5]! * metresPerPixel);
    const pictureWidth = (pictureHeight * elements[5]!) / elements[0]!;
    const taken = [{ left: 0, bottom: 0, right: hudSize.width, top: hudSize.height }];
    for (const { sprite, width, height } of this.entries.values()) {
      const at = sprite.position.clone().project(camera);
      const left = ((at.x + 1) / 2) * pictureWidth - sprite.center.x * width;
      const bottom = ((at.y + 1) / 2) * pictureHeight - sprite.center.y * height;
      const box = { left, bottom, right: left + width, top: bottom + height };
      sprite.visible = !taken.some((one) => box.left < one.right && one.left < box.right && box.bottom < one.top && one.bottom < box.top);
      if (sprite.visible) taken.push(box);
    }
  }

  dispose(): void {
    for (const [key, entry] of this.entries) this.remove(key, entry);
  }

  private remove(key: string, { sprite }: Entry): void {
    this.entries.delete(key);
    this.group.remove(sprite);
    sprite.material.map?.dispose();
    sprite.material.dispose();
  }

  private make({ text, colour, halo, anchor = [0.5, 0], isHidden = false }: Label): Entry {
    const canvas = document.createElement('canvas');
    const context = canvas.getContext('2d')!;
    const font = `${fontSize * sharpness}px system-ui, sans-serif`;
    const shown = text.length > 48 ? `${text.slice(0, 47)}…` : text;
    context.font = font;
    canvas.width = Math.ceil(context.measureText(shown).width) + 6 * sharpness;
    canvas.height = Math.ceil(fontSize * sharpness * 1.5);
    context.font = font;
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    context.lineWidth = 3 * sharpness;
    context.strokeStyle = css(halo, 0.85);
    context.strokeText(shown, 3 * sharpness, canvas.height / 2);
    context.fillStyle = css(colour);
    context.fillText(shown, 3 * sharpness, canvas.height / 2);
    const texture = new THREE.CanvasTexture(canvas);
    texture.colorSpace = THREE.SRGBColorSpace;
    texture.generateMipmaps = false;
    texture.minFilter = THREE.LinearFilter;
    const material = new THREE.SpriteMaterial({ map: texture, sizeAttenuation: false, depthTest: isHidden, depthWrite: false });
    const sprite = new THREE.Sprite(material);
    sprite.center.set(...anchor);
    sprite.renderOrder = 10;
    return { sprite, width: canvas.width / sharpness, height: canvas.height / sharpness };
  }
}
