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

// The action's own colours read well on both.
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

// Inherited by everything: a name or an id without a space must not widen the mail beyond a narrow screen.
const wrapping: CSSProperties = { wordBreak: 'break-word', overflowWrap: 'anywhere' };

/** What the mails look like in a light client, and where no style sheet is read. */
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
  note: { ...font, margin: '24px 0 0', color: colors.muted, fontSize: '14px', lineHeight: '20px' },
} satisfies Record<string, CSSProperties>;

/** Class names of what changes colour in the dark. */
export const darkClass = {
  page: 'dark-page',
  card: 'dark-card',
  text: 'dark-text',
  muted: 'dark-muted',
  line: 'dark-line',
};

/** For clients that tell a dark scheme; the others keep the light colours or turn them around themselves. */
export const darkStyles = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .${darkClass.page}, .${darkClass.page} > table > tbody > tr > td { background-color: ${dark.page} !important; }
  .${darkClass.card} { background-color: ${dark.card} !important; border-color: ${dark.border} !important; }
  .${darkClass.text} { color: ${dark.text} !important; }
  .${darkClass.muted} { color: ${dark.muted} !important; }
  .${darkClass.line} { border-color: ${dark.border} !important; }
}`;
