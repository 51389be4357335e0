// Dark or light: as the system has it, until the reader says otherwise.

const KEY = 'ringward-theme';
const ORDER = ['auto', 'dark', 'light'] as const;
type Choice = (typeof ORDER)[number];

const system = window.matchMedia('(prefers-color-scheme: dark)');

function chosen(): Choice {
  const kept = localStorage.getItem(KEY);
  return kept === 'dark' || kept === 'light' ? kept : 'auto';
}

export function isDark(): boolean {
  return chosen() === 'auto' ? system.matches : chosen() === 'dark';
}

/** `button` goes through the choices; `onChange` draws what does not follow the style sheet by itself. */
export function startTheme(button: HTMLButtonElement, onChange: () => void): void {
  const apply = (): void => {
    const choice = chosen();
    document.documentElement.dataset.theme = choice;
    button.textContent = { auto: '◐ auto', dark: '● dark', light: '○ light' }[choice];
    button.setAttribute('aria-label', `Colours: ${choice}`);
    onChange();
  };
  button.addEventListener('click', () => {
    localStorage.setItem(KEY, ORDER[(ORDER.indexOf(chosen()) + 1) % ORDER.length]!);
    apply();
  });
  system.addEventListener('change', apply);
  apply();
}

const probe = document.createElement('span');
probe.hidden = true;

/** A colour of the style sheet as canvases understand it. */
export function colourOf(name: string): string {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}
