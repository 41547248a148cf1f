/// <reference lib="dom" />
import { type RefObject, useLayoutEffect, useState } from 'react';

/**
 * The class that says whether the page is light or dark: as the app around it, by its `color-scheme`, which it may leave to
 * the system. The builds of Vite and Next.js rewrite `light-dark()`, and then no colour is valid without such a class.
 */
export function useScheme(page: RefObject<HTMLElement | null>): string {
  const [scheme, setScheme] = useState('scheme-light');
  useLayoutEffect(() => {
    const read = () =>
      setScheme(page.current?.parentElement && isDark(page.current.parentElement) ? 'scheme-dark' : 'scheme-light');
    const system = matchMedia('(prefers-color-scheme: dark)');
    const app = new MutationObserver(read);
    read();
    system.addEventListener('change', read);
    app.observe(document.documentElement, { attributes: true });
    return () => {
      system.removeEventListener('change', read);
      app.disconnect();
    };
  }, [page]);
  return scheme;
}

/** Whether the browser writes in a light colour there, where nothing else is said. */
function isDark(place: Element): boolean {
  const probe = document.createElement('span');
  probe.style.color = 'CanvasText';
  place.append(probe);
  const [red = 0] = (/\d+/.exec(getComputedStyle(probe).color) ?? []).map(Number);
  probe.remove();
  return red > 127;
}
