/// <reference lib="dom" />

/** Makes an element of a drawing. Positions in percent follow the width of the drawing. */
export function svg(
  tag: string,
  attributes: Record<string, string | number>,
  ...children: (Node | string)[]
): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** A share of the whole as a percentage. */
export function percent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`;
}
