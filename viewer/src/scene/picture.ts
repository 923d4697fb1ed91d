// A picture with what a reader of it must know: title, value along the axis, legend. Drawn with a fixed font and pixel ratio.
import type { FieldInfo, FilmHeader } from '../film/header';
import { css, palettes, type ColourMap, type Palette } from './colours';
import { drawHud, haloText, type HudText } from './hud';
import { roundTicks, shortNumber } from './numbers';
import type { Theme } from './stage';
import { valueAt } from './time';

export interface PictureText {
  header: FilmHeader;
  state: number;
  theme: Theme;
  legend: { field: FieldInfo; map: ColourMap } | null;
  hud: HudText;
}

/** A pure number has the unit 1 or none. */
const hasUnit = (unit: string) => unit !== '' && unit !== '1';
const withUnit = (text: string, unit: string) => (hasUnit(unit) ? `${text} [${unit}]` : text);

function shorten(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 0 && context.measureText(`${text.slice(0, end)}…`).width > width) --end;
  return `${text.slice(0, end)}…`;
}

function drawLegend(
  context: CanvasRenderingContext2D,
  { field, map }: { field: FieldInfo; map: ColourMap },
  unit: number,
  palette: Palette,
): void {
  const { width, height } = context.canvas;
  const size = Math.round(13 * unit);
  const bar = { width: Math.round(14 * unit), height: Math.round(Math.min(height * 0.42, 240 * unit)) };
  context.font = `${size}px system-ui, sans-serif`;
  const title = shorten(context, withUnit(field.label, field.unit), width / 2);
  const marks = field.categories
    ? field.categories.map((name, i) => ({ at: i, text: name }))
    : roundTicks(map.range[0], map.range[1], 5).map((at) => ({ at, text: shortNumber(at) }));
  const widest = Math.max(0, ...marks.map((mark) => context.measureText(mark.text).width));
  const left = Math.round(width - 18 * unit - Math.max(widest + bar.width + 8 * unit, context.measureText(title).width));
  const top = Math.round((height - bar.height) / 2);
  const text = css(palette.text);
  context.fillStyle = text;
  context.textBaseline = 'alphabetic';
  context.textAlign = 'left';
  haloText(context, title, left, top - 12 * unit, palette);
  const { colours } = map;
  for (let row = 0; row < bar.height; ++row) {
    const index = Math.min(colours.length - 1, Math.floor(((bar.height - 0.5 - row) / bar.height) * colours.length));
    context.fillStyle = css(colours[index]!);
    context.fillRect(left, top + row, bar.width, 1);
  }
  context.fillStyle = text;
  context.textBaseline = 'middle';
  for (const mark of marks) {
    const y = top + bar.height * (1 - (mark.at - map.range[0]) / (map.range[1] - map.range[0]));
    context.fillRect(left + bar.width, Math.round(y), Math.round(4 * unit), 1);
    haloText(context, mark.text, left + bar.width + 8 * unit, y, palette);
  }
}

/** The stage's canvas with the texts, on a canvas of its own. */
export function decorate(stage: HTMLCanvasElement, { header, state, theme, legend, hud }: PictureText): HTMLCanvasElement {
  const picture = document.createElement('canvas');
  picture.width = stage.width;
  picture.height = stage.height;
  const context = picture.getContext('2d')!;
  context.drawImage(stage, 0, 0);
  const unit = Math.max(0.7, Math.min(picture.width / 1280, picture.height / 720));
  const palette = palettes[theme];
  const text = css(palette.text);
  const margin = Math.round(18 * unit);
  context.fillStyle = text;
  context.textBaseline = 'top';
  context.font = `600 ${Math.round(18 * unit)}px system-ui, sans-serif`;
  haloText(context, shorten(context, header.title, picture.width - 2 * margin), margin, margin, palette);
  context.font = `${Math.round(14 * unit)}px system-ui, sans-serif`;
  const { label, unit: axisUnit } = header.axis;
  const value = `${label} ${shortNumber(valueAt(header.times, state))}${hasUnit(axisUnit) ? ` ${axisUnit}` : ''}`;
  haloText(context, value, margin, margin + Math.round(26 * unit), palette);
  if (legend) drawLegend(context, legend, unit, palette);
  drawHud(context, 0, picture.height, unit, hud);
  return picture;
}
