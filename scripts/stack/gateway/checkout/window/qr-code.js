const SIZE = 25;
const EYE = 7;

/** Draws what looks like a QR code: the same for the same text, and readable for no scanner. */
export function drawQrCode(text) {
  const random = numbersOf(text);
  let path = '';
  for (let y = 0; y < SIZE; y += 1) {
    for (let x = 0; x < SIZE; x += 1) {
      if (isInEye(x, y) ? isDarkInEye(x, y) : random() < 0.5) path += `M${x} ${y}h1v1h-1z`;
    }
  }
  const svg = svgElement('svg', {
    viewBox: `-2 -2 ${SIZE + 4} ${SIZE + 4}`,
    role: 'img',
    'aria-label': 'Simulated QR code',
  });
  svg.append(svgElement('path', { d: path }));
  return svg;
}

function isInEye(x, y) {
  const [isLow, isLeft] = [y > SIZE - EYE - 2, x < EYE + 1];
  return (isLeft && (y < EYE + 1 || isLow)) || (x > SIZE - EYE - 2 && y < EYE + 1);
}

/** Three corners have a square in a ring, with a light line around it. */
function isDarkInEye(x, y) {
  const centre = (EYE - 1) / 2;
  const across = (x > SIZE / 2 ? x - (SIZE - EYE) : x) - centre;
  const down = (y > SIZE / 2 ? y - (SIZE - EYE) : y) - centre;
  const distance = Math.max(Math.abs(across), Math.abs(down));
  return distance === 3 || distance < 2;
}

/** Numbers from 0 to 1 that look random. */
function numbersOf(text) {
  let state = [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7);
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function svgElement(name, attributes) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}
