// Elements without a framework. Text is always text: nothing here reads markup.

type Attributes = Record<string, string | number | boolean | ((event: Event) => void) | undefined>;
type Child = Node | string | undefined | false;

/** <tag attributes>children</tag>; functions listen to the event that they are named after. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== undefined && child !== false));
  return element;
}

/** Sets the text only where it changed, so that readers of the screen hear news and no repetition. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * A list whose entries keep their elements, and so focus and what is unfolded: an entry is made anew only when what it
 * shows has changed.
 */
export class KeyedList<Entry> {
  private shown = new Map<string, { element: HTMLElement; state: string }>();

  constructor(
    private readonly parent: HTMLElement,
    private readonly keyOf: (entry: Entry) => string,
    private readonly make: (entry: Entry) => HTMLElement,
  ) {}

  show(entries: readonly Entry[]): void {
    const next = new Map<string, { element: HTMLElement; state: string }>();
    for (const entry of entries) {
      const key = this.keyOf(entry);
      const state = JSON.stringify(entry);
      const old = this.shown.get(key);
      next.set(key, old?.state === state ? old : { element: this.renew(old?.element, entry), state });
    }
    for (const [key, { element }] of this.shown) if (!next.has(key)) element.remove();
    let at = this.parent.firstElementChild;
    for (const { element } of next.values()) {
      if (element === at) at = at.nextElementSibling;
      else this.parent.insertBefore(element, at);
    }
    this.shown = next;
  }

  private renew(old: HTMLElement | undefined, entry: Entry): HTMLElement {
    const element = this.make(entry);
    if (!old) return element;
    const focus = old.contains(document.activeElement) ? document.activeElement!.getAttribute('data-part') : null;
    const open = old.querySelector('details')?.open ?? false;
    old.replaceWith(element);
    const details = element.querySelector('details');
    if (details) details.open = open;
    if (focus !== null) element.querySelector<HTMLElement>(`[data-part="${focus}"]`)?.focus();
    return element;
  }
}
