import type { Canvas, Style } from './canvas.ts';
import type { Colours } from './colours.ts';
import type { Receipt } from './receipt.ts';
import {
  correctedDocument,
  formatDay,
  formatMoney,
  formatRate,
  notesOf,
  partyLines,
  statusOf,
} from './receipt-texts.ts';

const margin = 48;
const leading = 1.4;

/**
 * Draws a document.
 * @param width of the page, in points
 * @returns how much height it needs, in points.
 */
export function layOutReceipt(
  canvas: Canvas,
  receipt: Receipt,
  colours: Colours,
  { width, height }: { width: number; height: number },
): number {
  const { seller, buyer, totals, currency, lines } = receipt;
  const hasGst = Boolean(seller.gstin);
  const right = width - margin;
  const middle = width / 2 + 12;
  const room = middle - 24 - margin;
  const body: Style = { font: 0, size: 9.5, colour: colours.text };
  const strong: Style = { ...body, font: 1 };
  const small: Style = { ...body, size: 8.5 }; // the longest endorsement is one line
  const muted: Style = { ...small, colour: colours.muted };
  const title: Style = { font: 1, size: 22, colour: colours.heading };
  const heading: Style = { font: 1, size: 11, colour: colours.text };
  const total: Style = { font: 1, size: 13, colour: colours.heading };

  /** Draws a text below `y`. @returns where it ends. */
  function write(text: string, style: Style, x: number, y: number, room: number): number {
    const height = style.size * leading;
    return canvas.wrap(text, style, room).reduce((top, line) => {
      canvas.line(line, style, x, top + style.size, 'left');
      return top + height;
    }, y);
  }

  function rule(x: number, y: number): number {
    canvas.rectangle(x, y, right - x, 0.75, colours.line);
    return y;
  }

  canvas.rectangle(0, 0, width, 8, colours.brand);
  let y = write(receipt.title, title, margin, margin, width - 2 * margin - 110);
  drawStatus(margin + 6);
  y = drawFacts(y + 14);
  y = drawParties(y + 26);
  y = drawLines(y + 26);
  y = drawTotals(y + 10);
  y = notesOf(receipt).reduce((top, note) => write(note, small, margin, top, width - 2 * margin) + 4, y + 22);

  const footer = 'This document was made electronically and needs no signature.';
  const bottom = Math.max(y + 20, height - margin - 12);
  rule(margin, bottom - 8);
  return write(footer, muted, margin, bottom, width - 2 * margin) + margin - 12;

  function drawStatus(y: number): void {
    const style: Style = { ...strong, colour: colours.heading };
    for (const line of canvas.wrap(statusOf(receipt), style, 100)) {
      canvas.rectangle(right - line.width - 20, y, line.width + 20, 20, colours.tint);
      canvas.line(line, style, right - 10, y + 13.5, 'right');
    }
  }

  function drawFacts(y: number): number {
    const corrected = correctedDocument(receipt);
    const facts = [
      ['Number', receipt.document_number],
      ['Date', formatDay(receipt.document_date)],
      ...(corrected ? [['Corrects', corrected]] : []),
    ] as const;
    const columns = [margin, margin + 140, margin + 260];
    return Math.max(...facts.map(([label = '', value = ''], index) => {
      const x = columns[index] ?? margin;
      return write(value, strong, x, write(label, muted, x, y, 120), right - x);
    }));
  }

  function drawParties(y: number): number {
    const ends = [['From', seller], ['To', buyer]] as const;
    return Math.max(...ends.map(([label, party], index) => {
      const x = index === 0 ? margin : middle;
      const { name, address, facts } = partyLines(party, hasGst);
      // The buyer is not known where the user is gone.
      if (name === '' && address === '' && facts.length === 0) return y;
      let end = write(label, muted, x, y, room) + 2;
      if (name !== '') end = write(name, heading, x, end, room) + 1;
      if (address !== '') end = write(address, body, x, end, room);
      return facts.reduce((top, fact) => write(fact, body, x, top, room), end);
    }));
  }

  function drawLines(y: number): number {
    const sac = hasGst && lines.some((line) => line.sac);
    const columns = { description: margin + 10, sac: right - 210, quantity: right - 140 };
    const room = (sac ? columns.sac : columns.quantity) - columns.description - 16;
    canvas.rectangle(margin, y, width - 2 * margin, 24, colours.tint);
    const head: Style = { ...muted, font: 1 };
    write('Description', head, columns.description, y + 6, room);
    if (sac) write('SAC', head, columns.sac, y + 6, 60);
    write('Qty', head, columns.quantity, y + 6, 40);
    drawAmount(totals.taxes.length > 0 ? 'Amount with tax' : 'Amount', head, y + 6);
    return lines.reduce((top, line) => {
      const start = top + 8;
      const end = write(line.description, body, columns.description, start, room);
      if (sac) write(line.sac ?? '', body, columns.sac, start, 60);
      write(String(line.quantity), body, columns.quantity, start, 40);
      drawAmount(formatMoney(line.amount, currency), body, start);
      return rule(margin, end + 8);
    }, y + 24);
  }

  function drawAmount(text: string, style: Style, y: number): void {
    for (const line of canvas.wrap(text, style, width)) canvas.line(line, style, right - 10, y + style.size, 'right');
  }

  function drawTotals(y: number): number {
    const x = middle;
    const isTaxed = totals.taxes.length > 0 || hasGst && receipt.category !== 'none';
    const rows = !isTaxed ? [] : [
      ['Taxable value', totals.taxable] as const,
      ...totals.taxes.map(({ name, rate, amount }) => [`${name} ${formatRate(rate)}`, amount] as const),
    ];
    const end = rows.reduce((top, [label, amount]) => {
      const end = write(label, { ...body, colour: colours.muted }, x, top, 120);
      drawAmount(formatMoney(amount, currency), body, top);
      return end + 3;
    }, y);
    const start = rows.length === 0 ? y : rule(x, end + 3) + 8;
    const bottom = write('Total', total, x, start, 100);
    drawAmount(formatMoney(totals.total, currency), total, start);
    return bottom;
  }
}
