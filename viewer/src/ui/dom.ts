// Elements of the page. Texts of the film become text nodes, never HTML.

type Attributes = Record<string, string | number | boolean | null | undefined>;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string | null | undefined)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const svgNamespace = 'http://www.w3.org/2000/svg';

const icons = {
  play: 'M7 4.5v15l12-7.5z',
  pause: 'M7 5h3.5v14H7zM13.5 5H17v14h-3.5z',
  back: 'M17 5v14l-9-7zM5.5 5H8v14H5.5z',
  forward: 'M7 5v14l9-7zM16 5h2.5v14H16z',
  loop: 'M17.5 7H8a5 5 0 0 0 0 10h1v-2H8a3 3 0 0 1 0-6h9.500l-2 2 1.400 1.400L21.300 8l-4.400-4.400L15.500 5zM15 15v2h1a5 5 0 0 0 4.600-3h-2.300a3 3 0 0 1-2.300 1z',
  panel: 'M4 5h16v14H4zm2 2v10h8V7zm10 0v10h2V7z',
  theme: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2a7 7 0 0 1 0 14z',
  save: 'M11 4h2v8l3-3 1.400 1.400L12 15.800l-5.400-5.400L8 9l3 3zM5 18h14v2H5z',
  help: 'M11 17h2v2.500h-2zM12 4.500A4.500 4.500 0 0 0 7.500 9h2a2.500 2.500 0 1 1 3.600 2.200c-1.300.700-2.100 1.500-2.100 3.300h2c0-1 .4-1.300 1.200-1.700A4.500 4.500 0 0 0 12 4.500z',
  link: 'M10.500 13.500a4 4 0 0 0 5.700 0l3-3a4 4 0 0 0-5.700-5.700l-1.200 1.200 1.400 1.400 1.200-1.200a2 2 0 1 1 2.900 2.900l-3 3a2 2 0 0 1-2.900 0zM13.500 10.500a4 4 0 0 0-5.700 0l-3 3a4 4 0 0 0 5.700 5.700l1.200-1.200-1.400-1.400-1.200 1.200a2 2 0 1 1-2.900-2.900l3-3a2 2 0 0 1 2.900 0z',
} as const;

export type IconName = keyof typeof icons;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(svgNamespace, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(svgNamespace, 'path');
  path.setAttribute('d', icons[name]);
  path.setAttribute('fill-rule', 'evenodd');
  svg.append(path);
  return svg;
}

export function iconButton(name: IconName, label: string, key: string, action: () => void): HTMLButtonElement {
  const button = el('button', { type: 'button', class: 'icon', 'aria-label': label, title: key ? `${label} (${key})` : label }, icon(name));
  button.addEventListener('click', action);
  return button;
}

export function textButton(label: string, action: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const button = el('button', { type: 'button', ...attributes }, label);
  button.addEventListener('click', action);
  return button;
}

let lastId = 0;
export const newId = (stem: string): string => `${stem}-${++lastId}`;

/** A control with its label before it. */
export function labelled(label: string, control: HTMLElement, after?: HTMLElement): HTMLElement {
  control.id ||= newId('control');
  return el('div', { class: 'row' }, el('label', { for: control.id }, label), control, after);
}

export function checkbox(label: string, checked: boolean, change: (on: boolean) => void): { row: HTMLElement; box: HTMLInputElement } {
  const box = el('input', { type: 'checkbox' });
  box.checked = checked;
  box.addEventListener('change', () => change(box.checked));
  return { row: el('label', { class: 'check' }, box, el('span', {}, label)), box };
}

export function select(options: { value: string; text: string }[], value: string, change: (value: string) => void): HTMLSelectElement {
  const list = el('select', {}, ...options.map((option) => el('option', { value: option.value }, option.text)));
  list.value = value;
  list.addEventListener('change', () => change(list.value));
  return list;
}

/** A folded section with a heading. */
export function section(title: string, open: boolean, ...children: (Node | null)[]): HTMLElement {
  return el('details', { class: 'section', open }, el('summary', {}, title), ...children);
}

export function table(head: string[], rows: (string | Node)[][], caption: string): HTMLTableElement {
  return el(
    'table',
    {},
    el('caption', { class: 'unseen' }, caption),
    head.length > 0 ? el('thead', {}, el('tr', {}, ...head.map((text) => el('th', { scope: 'col' }, text)))) : null,
    el(
      'tbody',
      {},
      ...rows.map((row) => el('tr', {}, ...row.map((cell, i) => el(i === 0 ? 'th' : 'td', i === 0 ? { scope: 'row' } : {}, cell)))),
    ),
  );
}
