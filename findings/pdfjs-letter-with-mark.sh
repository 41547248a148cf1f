#!/bin/sh
# pdf.js 6.1.200 (no longer 6.5.438): a glyph that a PDF maps to several characters counts as a combining mark without
# width as soon as one of them is a mark (U+0941 in "पु"). Its advance is lost, and a line that begins with it is joined
# to the line before. A glyph for the first character, and empty glyphs without a width for the others, are read right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts pdfjs-dist@6.1.200 >/dev/null
cat > read.mjs <<'JS'
// Node 20 lacks it.
Promise.withResolvers ??= () => {
  const deferred = {};
  deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  return deferred;
};
const { getDocument, version } = await import('pdfjs-dist/legacy/build/pdf.mjs');

/** A page with the glyph `A` on each of two lines, which stands for `text`. */
function pdf(text) {
  const codes = [...text].map((one) => one.charCodeAt(0).toString(16).padStart(4, '0')).join('');
  const map = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /M def /CMapType 2 def
1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <41> <${codes}> endbfchar endcmap end end`;
  const content = 'BT /F 20 Tf 50 700 Td <4141> Tj ET BT /F 20 Tf 50 600 Td <41> Tj ET';
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>',
    `<< /Length ${map.length} >>\nstream\n${map}\nendstream`,
  ];
  let file = '%PDF-1.7\n';
  const offsets = objects.map((object, at) => {
    const offset = file.length;
    file += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const table = file.length;
  file += `xref\n0 7\n0000000000 65535 f \n${offsets.join('')}trailer\n<< /Size 7 /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`;
  return new TextEncoder().encode(file);
}

async function read(text) {
  const document = await getDocument({ data: pdf(text), verbosity: 0 }).promise;
  const { items } = await (await document.getPage(1)).getTextContent();
  return items.filter(({ str }) => str !== '').map(({ str, width }) => [str, Math.round(width)]);
}

console.log('pdf.js', version);
const found = { letters: await read('पा'), mark: await read('पु') };
console.log('two letters:       ', JSON.stringify(found.letters));
console.log('a letter and a mark:', JSON.stringify(found.mark));
const expected = { letters: [['पापा', 27], ['पा', 13]], mark: [['पुपुपु', 0]] };
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node read.mjs
