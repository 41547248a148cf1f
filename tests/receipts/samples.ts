import type { Receipt } from '../../supabase/functions/api/receipts/receipt.ts';

/** A tax invoice inside of a state. */
const invoice: Receipt = {
  kind: 'receipt',
  document_number: '2627/000102',
  title: 'Tax invoice',
  document_date: '2026-11-04',
  category: 'b2b',
  rupees: null,
  refund_id: null,
  place_of_supply: '29',
  currency: 'INR',
  seller: {
    name: 'Example Software LLP',
    address: '12 Sample Road\nBengaluru 560001',
    gstin: '29AAAAA0000A1ZY',
    state: '29',
  },
  buyer: {
    name: 'Mysuru Mills',
    address: '4 Mill Street, Mysuru 570001',
    gstin: '29BBBBB1111B1ZJ',
    state: '29',
    country: 'IN',
  },
  lines: [{ description: 'Pro, 4 Nov 2026 – 4 Nov 2027', sac: '998315', quantity: 1, amount: 99900 }],
  totals: {
    taxable: 84662,
    taxes: [{ name: 'CGST', rate: 900, amount: 7619 }, { name: 'SGST', rate: 900, amount: 7619 }],
    total: 99900,
  },
};

const line = { description: 'Pro, 4 Nov 2026 – 4 Nov 2027', sac: '998315', quantity: 1 };
const abroad = {
  ...invoice,
  place_of_supply: '96',
  currency: 'USD',
  buyer: { name: 'Lisboa Lda', address: 'Rua do Exemplo 1, Lisboa', gstin: null, state: '96', country: 'PT' },
  lines: [{ ...line, amount: 1900 }],
};
const outside = {
  ...invoice,
  place_of_supply: '27',
  buyer: { ...invoice.buyer, name: 'Konkan Traders', gstin: '27AAPFU0939F1ZV', state: '27' },
};
const note: Receipt = {
  ...outside,
  kind: 'credit_note',
  title: 'Credit note',
  document_number: 'CN2627/000011',
  refund_id: 'rfnd_Example00000011',
  lines: [{ ...line, description: 'Refund, tax invoice 2627/000102 of 4 Nov 2026', amount: 33333 }],
  totals: { taxable: 28248, taxes: [{ name: 'IGST', rate: 1800, amount: 5085 }], total: 33333 },
};
const withoutGstin: Receipt = {
  ...invoice,
  title: 'Receipt',
  category: 'none',
  place_of_supply: null,
  seller: { name: 'Sample Seller', address: '1 Sample Lane, Pune 411001', gstin: null, state: '27' },
  buyer: { name: 'Asha Rao', address: null, gstin: null, state: null, country: null },
  totals: { taxable: 99900, taxes: [], total: 99900 },
};

/** One document of each kind. */
export const samples = {
  'inside-the-state': invoice,
  'another-state': {
    ...outside,
    totals: { taxable: 84661, taxes: [{ name: 'IGST', rate: 1800, amount: 15239 }], total: 99900 },
  },
  'export-with-lut': {
    ...abroad,
    category: 'expwop',
    seller: { ...invoice.seller, lut: 'AD290326000001X' },
    rupees: { rate: '84.3542105263', taxable: 160273, taxes: [], total: 160273 },
    totals: { taxable: 1900, taxes: [], total: 1900 },
  },
  'export-with-tax': {
    ...abroad,
    category: 'expwp',
    rupees: {
      rate: '84.3542105263',
      taxable: 135825,
      taxes: [{ name: 'IGST', rate: 1800, amount: 24448 }],
      total: 160273,
    },
    totals: { taxable: 1610, taxes: [{ name: 'IGST', rate: 1800, amount: 290 }], total: 1900 },
  },
  'credit-note': note,
  'credit-note-without-gst': {
    ...note,
    title: 'Credit note without GST',
    category: 'none',
    document_number: 'FN2627/000001',
    totals: { taxable: 33333, taxes: [], total: 33333 },
  },
  'without-gstin': withoutGstin,
  'without-gstin-with-tax': {
    ...withoutGstin,
    currency: 'JPY',
    lines: [{ ...line, amount: 1234567 }],
    totals: { taxable: 1204456, taxes: [{ name: 'Sales tax', rate: 250, amount: 30111 }], total: 1234567 },
  },
  'devanagari': {
    ...invoice,
    seller: { ...invoice.seller, name: 'श्री गणेश सॉफ्टवेयर (Pvt) लि॰' },
    buyer: {
      ...invoice.buyer,
      name: 'हिन्दी साहित्य प्रकाशन',
      address: '१२, महात्मा गांधी मार्ग, शिवाजीनगर\nपुणे – ४११००५, महाराष्ट्र\nक़िला रोड, विद्युत भवन के पीछे, द्वितीय तल, ऋषिकेश',
    },
  },
  'scripts-of-india': {
    ...invoice,
    seller: { ...invoice.seller, name: 'ಶ್ರೀಕೃಷ್ಣ ತಂತ್ರಾಂಶ ಸಂಸ್ಥೆ', address: 'ಮಹಾತ್ಮ ಗಾಂಧಿ ರಸ್ತೆ\nಬೆಂಗಳೂರು 560001' },
    buyer: {
      ...invoice.buyer,
      name: 'தமிழ்ச்செல்வன் பதிப்பகம் (Pvt)',
      address: 'శ్రీనివాస్ రాజ్యలక్ష్మి, విజయవాడ\nশ্রীনিবাস বিদ্যুৎ, কলকাতা\nക്ഷേത്രം റോഡ്, കൊച്ചി\n' +
        'ક્ષિતિજ સૌરાષ્ટ્ર, રાજકોટ\nਗੁਰਪ੍ਰੀਤ ਸਿੰਘ, ਅੰਮ੍ਰਿਤਸਰ\nଶ୍ରୀକ୍ଷେତ୍ର, ପୁରୀ',
    },
  },
  'right-to-left': {
    ...abroad,
    category: 'expwp',
    buyer: {
      name: 'شركة النور للبرمجيات',
      address: 'مكتب 12، شارع الشيخ زايد\nلاہور کے قریب، نئی دہلی\nمُحَمَّد (دبي) Al Noor LLC',
      gstin: null,
      state: '96',
      country: 'AE',
    },
    totals: { taxable: 1900, taxes: [], total: 1900 },
  },
  'accents-and-other-scripts': {
    ...abroad,
    category: 'expwp',
    buyer: {
      name: 'Zażółć Gęślą Jaźń & Søn ApS — Ñandú “Łódź”',
      address: 'Đường Nguyễn Huệ 1, Kr\u0325s\u0323n\u0323a Straße, Ångström\u0308, தமிழ் 東京',
      gstin: null,
      state: '96',
      country: 'CI',
    },
    totals: { taxable: 1900, taxes: [], total: 1900 },
  },
  'long-texts': {
    ...invoice,
    seller: { ...invoice.seller, name: 'W'.repeat(200), address: 'Long Winding Boulevard '.repeat(21).trim() },
    buyer: {
      ...invoice.buyer,
      name: 'Very Long Names Of Companies '.repeat(7).slice(0, 200),
      address: 'M'.repeat(500),
    },
    lines: [{ ...line, description: 'Enterprise plan with a long name '.repeat(8).trim(), amount: 99900 }],
  },
  'many-lines': { ...invoice, buyer: { ...invoice.buyer, address: 'a\n'.repeat(250) } },
  'ten-crore': {
    ...invoice,
    lines: [{ ...line, amount: 10_000_000_001 }],
    totals: {
      taxable: 8_474_576_273,
      taxes: [{ name: 'CGST', rate: 900, amount: 762_711_864 }, { name: 'SGST', rate: 900, amount: 762_711_864 }],
      total: 10_000_000_001,
    },
  },
  'kuwait': {
    ...abroad,
    category: 'expwop',
    currency: 'KWD',
    lines: [{ ...line, amount: 1234567 }],
    totals: { taxable: 1234567, taxes: [], total: 1234567 },
  },
} satisfies Record<string, Receipt>;
