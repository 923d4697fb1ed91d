// The side panel: tabs, hidden or shown, as wide as the reader drags it. On a narrow window a sheet from below.
import { el, newId } from './dom';

export interface Tab {
  name: string;
  element: HTMLElement;
  reveal?: () => void;
}

const narrow = '(max-width: 720px)';
const [least, most] = [260, 900];

export class Panel {
  readonly element: HTMLElement;
  readonly separator: HTMLElement;
  private readonly buttons: HTMLButtonElement[];
  private readonly pages: HTMLElement[];
  private width = 360;
  private height = 45; // of the sheet, in hundredths of the window's
  private listeners: (() => void)[] = [];
  isOpen: boolean;

  constructor(private readonly tabs: Tab[]) {
    this.isOpen = !matchMedia(narrow).matches;
    this.pages = tabs.map(({ element }) => el('div', { role: 'tabpanel', id: newId('page'), tabindex: 0, class: 'page' }, element));
    this.buttons = tabs.map(({ name }, i) => {
      const button = el('button', { type: 'button', role: 'tab', id: newId('tab'), 'aria-controls': this.pages[i]!.id }, name);
      this.pages[i]!.setAttribute('aria-labelledby', button.id);
      button.addEventListener('click', () => this.open(name));
      button.addEventListener('keydown', (event) => this.tabKey(event, i));
      return button;
    });
    this.separator = this.makeSeparator();
    const list = el('div', { role: 'tablist', class: 'tabs', 'aria-label': 'Panels' }, ...this.buttons);
    this.element = el('aside', { class: 'panel', 'aria-label': 'Panel', id: 'panel' }, list, ...this.pages);
    this.show(0);
    this.apply();
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  open(name: string): void {
    this.setOpen(true);
    this.show(
      Math.max(
        0,
        this.tabs.findIndex((tab) => tab.name === name),
      ),
    );
  }

  setOpen(isOpen: boolean): void {
    this.isOpen = isOpen;
    this.apply();
    for (const listener of this.listeners) listener();
  }

  private show(index: number): void {
    this.pages.forEach((page, i) => (page.hidden = i !== index));
    this.buttons.forEach((button, i) => {
      button.setAttribute('aria-selected', String(i === index));
      button.tabIndex = i === index ? 0 : -1;
    });
    if (this.isOpen) this.tabs[index]!.reveal?.();
  }

  private tabKey(event: KeyboardEvent, index: number): void {
    const last = this.tabs.length - 1;
    const to = { ArrowRight: index === last ? 0 : index + 1, ArrowLeft: index === 0 ? last : index - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.show(to);
    this.buttons[to]!.focus();
  }

  private apply(): void {
    this.element.hidden = this.separator.hidden = !this.isOpen;
    document.documentElement.style.setProperty('--panel-width', `${this.width}px`);
    document.documentElement.style.setProperty('--sheet-height', `${this.height}vh`);
    this.separator.setAttribute('aria-valuenow', String(this.width));
  }

  private resize(width: number, height: number): void {
    this.width = Math.min(most, Math.max(least, Math.min(width, window.innerWidth - 240)));
    this.height = Math.min(80, Math.max(20, height));
    this.apply();
    for (const listener of this.listeners) listener();
  }

  private makeSeparator(): HTMLElement {
    const bar = el('div', {
      role: 'separator',
      class: 'separator',
      tabindex: 0,
      'aria-label': 'Size of the panel',
      'aria-controls': 'panel',
    });
    bar.setAttribute('aria-valuemin', String(least));
    bar.setAttribute('aria-valuemax', String(most));
    bar.addEventListener('pointerdown', (event) => {
      bar.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    bar.addEventListener('pointermove', (event) => {
      if (!bar.hasPointerCapture(event.pointerId)) return;
      if (matchMedia(narrow).matches) this.resize(this.width, (100 * (window.innerHeight - event.clientY)) / window.innerHeight - 12);
      else this.resize(window.innerWidth - event.clientX, this.height);
    });
    bar.addEventListener('keydown', (event) => {
      const by = { ArrowLeft: 24, ArrowUp: 24, ArrowRight: -24, ArrowDown: -24 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      this.resize(this.width + by, this.height + by / 6);
    });
    return bar;
  }
}
