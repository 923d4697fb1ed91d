// The legend of the colours, over the stage.
import { colourMap, colourOf, css } from '../scene/colours';
import { roundTicks } from '../scene/numbers';
import { el } from './dom';
import { formatNumber, unitText } from './format';
import type { Session } from './session';

export function makeLegend(session: Session): HTMLElement {
  const legend = el('div', { class: 'legend', role: 'img' });
  const show = () => {
    const field = session.header.fields.find(({ name }) => name === session.colouring?.field);
    legend.hidden = !field;
    if (!field) return;
    const map = colourMap(field, session.colouring?.range ?? null);
    const unit = unitText(field.unit);
    const title = el('div', { class: 'title' }, unit ? `${field.label} [${unit}]` : field.label);
    if (field.categories) {
      const entries = field.categories.map((name, value) => {
        const patch = el('span', { class: 'patch' });
        patch.style.background = css(colourOf(map, value));
        return el('div', { class: 'category' }, patch, name);
      });
      legend.replaceChildren(title, ...entries);
      legend.setAttribute('aria-label', `Colours: ${field.label}: ${field.categories.join(', ')}`);
      return;
    }
    const [low, high] = map.range;
    const stops = Array.from({ length: 33 }, (_, i) => css(colourOf(map, low + (i / 32) * (high - low))));
    const strip = el('div', { class: 'strip' });
    strip.style.background = `linear-gradient(to right, ${stops.join(',')})`;
    const inner = roundTicks(low, high, 4).filter((x) => x > low + 0.2 * (high - low) && x < high - 0.2 * (high - low));
    const ticks = [low, ...inner, high].map((value, i, all) => {
      const tick = el(
        'span',
        { class: i === 0 ? 'first' : i === all.length - 1 ? 'last' : '' },
        formatNumber(value, i === 0 || i === all.length - 1 ? 3 : 4),
      );
      tick.style.left = `${(100 * (value - low)) / (high - low || 1)}%`;
      return tick;
    });
    legend.replaceChildren(title, strip, el('div', { class: 'ticks' }, ...ticks));
    legend.setAttribute('aria-label', `Colours: ${field.label} from ${formatNumber(low)} to ${formatNumber(high)} ${unit}`);
  };
  session.on('look', show);
  show();
  return legend;
}
