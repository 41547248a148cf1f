import type { CSSProperties } from 'react';

const colors = {
  page: '#f4f4f5',
  card: '#ffffff',
  border: '#e4e4e7',
  text: '#18181b',
  muted: '#52525b',
  action: '#1d4ed8',
  onAction: '#ffffff',
};

// The colours of the button have enough contrast on both.
const dark: Omit<typeof colors, 'action' | 'onAction'> = {
  page: '#18181b',
  card: '#27272a',
  border: '#3f3f46',
  text: '#f4f4f5',
  muted: '#c4c4cc',
};

const font: CSSProperties = {
  fontFamily: "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",
  fontSize: '16px',
  lineHeight: '24px',
  color: colors.text,
};

// Inherited by all elements: a long name or id without a space must not make the mail wider than a narrow screen.
const wrapping: CSSProperties = { wordBreak: 'break-word', overflowWrap: 'anywhere' };

/** Inline styles: the light colours, also for clients that ignore style sheets. */
export const theme = {
  page: { ...font, ...wrapping, margin: '0', padding: '24px 8px', backgroundColor: colors.page },
  card: {
    maxWidth: '560px',
    padding: '28px 20px',
    backgroundColor: colors.card,
    border: `1px solid ${colors.border}`,
    borderRadius: '8px',
  },
  heading: { ...font, margin: '0 0 20px', fontSize: '22px', lineHeight: '28px', fontWeight: 600 },
  text: { ...font, margin: '0 0 16px' },
  details: { width: '100%', margin: '0 0 24px', borderCollapse: 'collapse', tableLayout: 'fixed' },
  label: {
    ...font,
    width: '36%',
    padding: '10px 12px 10px 0',
    borderTop: `1px solid ${colors.border}`,
    color: colors.muted,
    fontSize: '14px',
    fontWeight: 400,
    textAlign: 'left',
    verticalAlign: 'top',
  },
  value: {
    ...font,
    fontSize: '15px',
    padding: '10px 0',
    borderTop: `1px solid ${colors.border}`,
    verticalAlign: 'top',
  },
  action: {
    ...font,
    padding: '12px 20px',
    borderRadius: '6px',
    backgroundColor: colors.action,
    color: colors.onAction,
    fontWeight: 600,
  },
  brand: { maxWidth: '560px', padding: '0 4px' },
  logo: { margin: '0 0 16px' },
  name: { ...font, margin: '0 0 16px', fontSize: '18px', fontWeight: 600 },
  footer: {
    ...font,
    margin: '16px 0 0',
    color: colors.muted,
    fontSize: '13px',
    lineHeight: '20px',
    whiteSpace: 'pre-line',
  },
  note: { ...font, margin: '24px 0 0', color: colors.muted, fontSize: '14px', lineHeight: '20px' },
} satisfies Record<string, CSSProperties>;

/**
 * The colours of a button with this background: the text is black or white, whichever has more contrast (WCAG 2.2).
 * @param accent `#rrggbb`; undefined: the theme's own
 */
export function accented(accent: string | undefined): CSSProperties {
  if (accent === undefined) return {};
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => linear(parseInt(accent.slice(at, at + 2), 16) / 255));
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  const isDark = 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05;
  return { backgroundColor: accent, color: isDark ? '#ffffff' : '#000000' };
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}

/** Class names of elements that change colour in dark mode. */
export const darkClass = {
  page: 'dark-page',
  card: 'dark-card',
  text: 'dark-text',
  muted: 'dark-muted',
  line: 'dark-line',
};

/** For clients that support `prefers-color-scheme`. The others keep the light colours or invert them. */
export const darkStyles = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .${darkClass.page}, .${darkClass.page} > table > tbody > tr > td { background-color: ${dark.page} !important; }
  .${darkClass.card} { background-color: ${dark.card} !important; border-color: ${dark.border} !important; }
  .${darkClass.text} { color: ${dark.text} !important; }
  .${darkClass.muted} { color: ${dark.muted} !important; }
  .${darkClass.line} { border-color: ${dark.border} !important; }
}`;
