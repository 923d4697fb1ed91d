// The state of the picture as text behind the # of the address, so that a link shows the same picture.

export interface LinkState {
  frame: number | null;
  camera: string | null;
  colour: string | null; // name of a field
  range: [number, number] | null;
  layers: string | null; // "forces,-grid": what differs from the usual
  enlarge: [number, number] | null; // displacement, thickness
  arrows: number | null;
  cut: string | null; // "x,0.25", or "nx,ny,nz,offset"
  parallel: boolean;
}

export const emptyState: LinkState = {
  frame: null,
  camera: null,
  colour: null,
  range: null,
  layers: null,
  enlarge: null,
  arrows: null,
  cut: null,
  parallel: false,
};

const numbers = (text: string | null, count: number): number[] | null => {
  const list = text?.split(',').map((word) => (word.trim() === '' ? NaN : Number(word)));
  return list?.length === count && list.every(Number.isFinite) ? list : null;
};

export function writeHash(state: LinkState): string {
  const pairs: [string, string | null][] = [
    ['frame', state.frame === null ? null : String(state.frame)],
    ['camera', state.camera],
    ['colour', state.colour],
    ['range', state.range?.join(',') ?? null],
    ['layers', state.layers || null],
    ['enlarge', state.enlarge?.join(',') ?? null],
    ['arrows', state.arrows === null ? null : String(state.arrows)],
    ['cut', state.cut],
    ['parallel', state.parallel ? '1' : null],
  ];
  const words = pairs.filter(([, value]) => value !== null).map(([key, value]) => `${key}=${encodeURIComponent(value!)}`);
  return words.join('&').replace(/%2C/g, ',').replace(/%2F/g, '/');
}

/** What cannot be read is left out: a link that was cut off still shows something. */
export function readHash(text: string): LinkState {
  const values = new URLSearchParams(text.replace(/^#/, '').replace(/\+/g, '%2B'));
  const frame = numbers(values.get('frame'), 1)?.[0] ?? null;
  const range = numbers(values.get('range'), 2);
  const enlarge = numbers(values.get('enlarge'), 2);
  const arrows = numbers(values.get('arrows'), 1)?.[0] ?? null;
  return {
    frame: frame !== null && frame >= 0 ? Math.round(frame) : null,
    camera: values.get('camera'),
    colour: values.get('colour'),
    range: range && range[0]! < range[1]! ? [range[0]!, range[1]!] : null,
    layers: values.get('layers'),
    enlarge: enlarge && enlarge.every((x) => x >= 0) ? [enlarge[0]!, enlarge[1]!] : null,
    arrows: arrows !== null && arrows > 0 ? arrows : null,
    cut: values.get('cut'),
    parallel: values.get('parallel') === '1',
  };
}
