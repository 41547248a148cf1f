/** Colours as the operands of a PDF: red, green and blue from 0 to 1. */
export type Colour = string;

export type Colours = {
  readonly text: Colour;
  readonly muted: Colour;
  readonly line: Colour;
  /** Of areas. */
  readonly brand: Colour;
  /** Of texts on white: the brand's, where it has enough contrast. */
  readonly heading: Colour;
  /** A light tone of the brand's colour, as background of texts. */
  readonly tint: Colour;
};

const neutral = {
  text: toPdf(channelsOf('#18181b')),
  muted: toPdf(channelsOf('#52525b')),
  line: toPdf(channelsOf('#d4d4d8')),
};

/** @param brandColor `#rrggbb`; undefined: that of the mails */
export function coloursOf(brandColor = '#1d4ed8'): Colours {
  const brand = channelsOf(brandColor);
  return {
    ...neutral,
    brand: toPdf(brand),
    heading: contrastOnWhite(brand) >= 4.5 ? toPdf(brand) : neutral.text,
    tint: toPdf(brand.map((channel) => 1 - (1 - channel) * 0.08)),
  };
}

function channelsOf(color: string): number[] {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255);
}

function toPdf(channels: readonly number[]): Colour {
  return channels.map((channel) => Math.round(channel * 1000) / 1000).join(' ');
}

/** The contrast of WCAG 2.2. */
function contrastOnWhite(channels: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = channels.map((channel) =>
    channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  );
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}
