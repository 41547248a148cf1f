import { expect, test } from 'vitest';
import { inVisualOrder } from '../../supabase/functions/api/receipts/visual-order.ts';
import { renderReceipt } from '../../supabase/functions/api/receipts/render-receipt.ts';
import { linesOf, readByPoppler, readPdf } from './read-pdf.ts';
import { samples } from './samples.ts';

type Name = keyof typeof samples;

const electronic = 'This document was made electronically and needs no signature.';
const seller = [
  'Example Software LLP',
  '12 Sample Road',
  'Bengaluru 560001',
  'GSTIN: 29AAAAA0000A1ZY',
  'State: Karnataka (29)',
];
const noReverseCharge = 'Tax is payable on reverse charge: No';

/** What a document says: parts of its lines, in any order. */
const said: Record<Name, string[]> = {
  'inside-the-state': [
    ...['Tax invoice', 'Paid', '2627/000102', '4 Nov 2026', ...seller, 'Mysuru Mills', '4 Mill Street, Mysuru 570001'],
    ...['GSTIN: 29BBBBB1111B1ZJ', 'Pro, 4 Nov 2026 – 4 Nov 2027', '998315', '₹999.00', 'Taxable value ₹846.62'],
    ...['CGST 9% ₹76.19', 'SGST 9% ₹76.19', 'Total ₹999.00', 'Place of supply: Karnataka (29)', noReverseCharge],
  ],
  'another-state': [
    'State: Maharashtra (27)',
    'IGST 18% ₹152.39',
    'Place of supply: Maharashtra (27)',
    noReverseCharge,
  ],
  'export-with-lut': [
    ...['Lisboa Lda', 'Rua do Exemplo 1, Lisboa', 'Country: Portugal', 'Total USD 19.00', 'Taxable value USD 19.00'],
    ...['Place of supply: Outside India (96)', noReverseCharge, 'LUT number: AD290326000001X'],
    'SUPPLY MEANT FOR EXPORT UNDER BOND OR LETTER OF UNDERTAKING WITHOUT PAYMENT OF INTEGRATED TAX',
    'Value in rupees: ₹1,602.73, at ₹84.3542105263 for USD 1',
  ],
  'export-with-tax': [
    ...['IGST 18% USD 2.90', 'SUPPLY MEANT FOR EXPORT ON PAYMENT OF INTEGRATED TAX'],
    'Value in rupees: ₹1,602.73 (taxable value ₹1,358.25, IGST 18% ₹244.48), at ₹84.3542105263 for USD 1',
  ],
  'credit-note': [
    ...['Credit note', 'Refunded', 'CN2627/000011', 'Tax invoice 2627/000102 of 4 Nov 2026', 'Total ₹333.33'],
    ...['Refund, tax invoice 2627/000102 of 4 Nov 2026', 'Taxable value ₹282.48', 'IGST 18% ₹50.85', noReverseCharge],
  ],
  'credit-note-without-gst': [
    ...['Credit note without GST', 'FN2627/000001', 'No GST is adjusted: section 34(2) of the CGST Act.'],
    'Tax invoice 2627/000102 of 4 Nov 2026',
  ],
  'without-gstin': [
    'Receipt',
    'Sample Seller',
    '1 Sample Lane, Pune 411001',
    'State: Maharashtra',
    'Asha Rao',
    'Total ₹999.00',
  ],
  'without-gstin-with-tax': ['Taxable value JPY 1,204,456', 'Sales tax 2.5% JPY 30,111', 'Total JPY 1,234,567'],
  'devanagari': [
    ...['श्री गणेश सॉफ्टवेयर (Pvt) लि॰', 'हिन्दी साहित्य प्रकाशन', '१२, महात्मा गांधी मार्ग, शिवाजीनगर', 'पुणे – ४११००५, महाराष्ट्र'],
    'क़िला रोड, विद्युत भवन के पीछे, द्वितीय तल, ऋषिकेश',
  ],
  'scripts-of-india': [
    ...['ಶ್ರೀಕೃಷ್ಣ ತಂತ್ರಾಂಶ ಸಂಸ್ಥೆ', 'ಬೆಂಗಳೂರು 560001', 'தமிழ்ச்செல்வன் பதிப்பகம் (Pvt)', 'శ్రీనివాస్ రాజ్యలక్ష్మి, విజయవాడ'],
    ...['শ্রীনিবাস বিদ্যুৎ, কলকাতা', 'ക്ഷേത്രം റോഡ്, കൊച്ചി', 'ક્ષિતિજ સૌરાષ્ટ્ર, રાજકોટ', 'ਗੁਰਪ੍ਰੀਤ ਸਿੰਘ, ਅੰਮ੍ਰਿਤਸਰ', 'ଶ୍ରୀକ୍ଷେତ୍ର, ପୁରୀ'],
  ],
  'right-to-left': ['شركة النور للبرمجيات', 'Country: United Arab Emirates'],
  'accents-and-other-scripts': [
    ...['Zażółć Gęślą Jaźń & Søn ApS — Ñandú “Łódź”', 'Đường Nguyễn Huệ 1, Kr̥ṣṇa Straße,', "Country: Côte d'Ivoire"],
    'தமிழ் 東京',
  ],
  'long-texts': [
    'Very Long Names Of Companies',
    'Long Winding Boulevard Long',
    'Enterprise plan with a long name',
    'Total ₹999.00',
  ],
  'many-lines': ['Mysuru Mills', 'a, a, a, a, a, a, a, a, a', 'Total ₹999.00'],
  'ten-crore': ['Taxable value ₹8,47,45,762.73', 'CGST 9% ₹76,27,118.64', 'Total ₹10,00,00,000.01'],
  'kuwait': ['Total KWD 1,234.567'],
};

const names = Object.keys(samples) as Name[];

test.each(names)('%s: what the document says is read back, on one page of A4', async (name) => {
  const bytes = await renderReceipt(samples[name], {});
  const { pages, title, width, height, texts } = await readPdf(bytes);
  expect({ pages, width, height }).toEqual({ pages: 1, width: 595.28, height: 841.89 });
  expect(title).toBe(`${samples[name].title} ${samples[name].document_number}`);
  expect(bytes.length).toBeLessThanOrEqual(60_000);
  const lines = linesOf(texts);
  expect([...said[name], electronic].filter((part) => !lines.includes(part))).toEqual([]);
});

const isPopplerInstalled = await readByPoppler(await renderReceipt(samples.devanagari, {})) !== undefined;

test.skipIf(!isPopplerInstalled).each(names)('%s: poppler reads the same', async (name) => {
  const text = await readByPoppler(await renderReceipt(samples[name], {})) ?? '';
  const lines = text.replaceAll(/ +/g, ' ');
  expect([...said[name], electronic].filter((part) => !lines.includes(part))).toEqual([]);
});

test.each(names)('%s: no text leaves the page or lies on another one', async (name) => {
  const { width, height, texts } = await readPdf(await renderReceipt(samples[name], {}));
  expect(
    texts.filter((text) =>
      text.x < 20 || text.x + text.width > width - 20 || text.y < 20 || text.y + text.size > height - 20
    ),
  ).toEqual([]);
  const overlaps = texts.flatMap((one, index) =>
    texts.slice(index + 1).filter((other) =>
      Math.abs(one.y - other.y) < Math.min(one.size, other.size) * 0.9 && one.x < other.x + other.width - 0.1 &&
      other.x < one.x + one.width - 0.1
    ).map((other) => `${one.text} / ${other.text}`)
  );
  expect(overlaps).toEqual([]);
});

test('without a GSTIN of the seller a document says nothing about GST', async () => {
  for (const name of ['without-gstin', 'without-gstin-with-tax'] as const) {
    const lines = linesOf((await readPdf(await renderReceipt(samples[name], {}))).texts);
    expect(lines).not.toMatch(/GST|SAC|998315|Place of supply|reverse charge|\(27\)/);
  }
});

test('an export without a tax and without a letter of undertaking has no endorsement', async () => {
  const { lut: _, ...seller } = samples['export-with-lut'].seller;
  const lines = linesOf((await readPdf(await renderReceipt({ ...samples['export-with-lut'], seller }, {}))).texts);
  expect(lines).not.toMatch(/EXPORT|LUT/);
});

test.each(['Lost dispute', 'Correction'])('a note of a reason "%s" was credited', async (reason) => {
  const { lines: [line] } = samples['credit-note'];
  const description = `${reason}, tax invoice 2627/000102 of 4 Nov 2026`;
  const note = { ...samples['credit-note'], refund_id: null, lines: [{ ...line, amount: 33333, description }] };
  const lines = linesOf((await readPdf(await renderReceipt(note, {}))).texts);
  expect(lines).toContain('Credited');
  expect(lines).toContain('Tax invoice 2627/000102 of 4 Nov 2026');
  expect(lines).not.toContain('Refunded');
});

test.each([
  ['#0f766e', '0.059 0.463 0.431 rg BT /F1 22'],
  ['#fde047', '0.094 0.094 0.106 rg BT /F1 22'], // too light for a text
  [undefined, '0.114 0.306 0.847 rg BT /F1 22'],
])('with the brand colour %s the title is %s', async (brandColor, operators) => {
  const text = new TextDecoder('latin1').decode(await renderReceipt(samples['inside-the-state'], { brandColor }));
  expect(text).toContain(operators);
});

test('a document of a user who is gone names no buyer', async () => {
  const { texts } = await readPdf(await renderReceipt({ ...samples['without-gstin'], buyer: {} }, {}));
  expect(linesOf(texts)).toContain('From\nSample Seller');
  expect(texts.map(({ text }) => text)).not.toContain('To');
});

test('what is no document is refused', async () => {
  await expect(renderReceipt({ ...samples['credit-note'], totals: null }, {})).rejects.toThrow('totals');
});

test('line breaks of all systems break a line, and controls have no shape', async () => {
  const address = 'One\r\nTwo\rThree\u2028Four\tfive\u202esix\u0000';
  const buyer = { name: 'Asha\nRao', address };
  const { texts } = await readPdf(await renderReceipt({ ...samples['without-gstin'], buyer }, {}));
  expect(texts.map(({ text }) => text)).toEqual(expect.arrayContaining(['Asha Rao', 'Two', 'Three', 'Four five six']));
});

test('the longest name and address in Devanagari are read back within 60 kB', async () => {
  const letters = Array.from({ length: 37 }, (_, at) => String.fromCharCode(0x915 + at));
  const syllables = letters.flatMap((one, at) =>
    ['ि', 'ी', 'ु', 'ै', 'ो', '्र', '्य'].map((sign) => one + sign + letters.at(at - 9))
  );
  const [name, address] = [syllables.join('').slice(0, 200), syllables.toReversed().join(' ').slice(0, 500)];
  const bytes = await renderReceipt({ ...samples['inside-the-state'], buyer: { name, address } }, {});
  const { pages, texts } = await readPdf(bytes);
  expect(pages).toBe(1);
  expect(bytes.length).toBeLessThanOrEqual(60_000);
  const buyer = texts.filter(({ text, x }) => x > 300 && /[\u0900-\u097f]/.test(text)).map(({ text }) => text).join('');
  expect(buyer.replaceAll(' ', '')).toBe(`${name}${address}`.replaceAll(' ', ''));
});

test.each([
  'محمد علي',
  'שלום 123 עולם',
  'شركة النور (دبي)',
  'لا إله',
  'مُحَمَّد',
  'دبي ١٢٣',
  'اردو ۱۲',
  'مكتب 12، شارع الشيخ زايد',
])(
  '%s, which is written from right to left, is read back',
  async (name) => {
    const sample = samples['inside-the-state'];
    const { texts } = await readPdf(await renderReceipt({ ...sample, buyer: { ...sample.buyer, name } }, {}));
    expect(texts.map(({ text }) => text)).toContain(name);
  },
);

test.each([
  ['Asha Rao', 'Asha Rao'],
  ['אבג דה', 'הד גבא'],
  ['אב 12 ג', 'ג 12 בא'],
  ['A אב, B גד.', 'A בא, B דג.'],
  ['אב (גד)', '(דג) בא'],
])('the letters of "%s" stand on the page as "%s"', (text, placed) => {
  const signOf = (letter: string) => ({ text: letter, codes: '', isSyllable: false, width: 0 });
  const font = { drawnAs: (_: string, shown: string) => signOf(shown) };
  expect(inVisualOrder(Array.from(text, signOf), font).map((sign) => sign.text).join('')).toBe(placed);
});
