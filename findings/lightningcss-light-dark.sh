# lightningcss 1.33.0, which Vite, Next.js and Tailwind's plugin use, writes `light-dark(a, b)` for older browsers as two
# variables with `a` and `b` as their fallbacks. Only a rule with `color-scheme` in the same CSS sets them. Without one both
# fallbacks stand side by side, which is no colour, so backgrounds are gone in builds alone; a browser itself takes `a`.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts lightningcss@1.33.0 >/dev/null
cat > build.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { browserslistToTargets, transform } from 'lightningcss';
console.log('lightningcss', JSON.parse(readFileSync('node_modules/lightningcss/package.json')).version);
/** The declaration of `.pay` with the variables that the built CSS sets, as a browser in light mode computes it. */
function valueOf(css) {
  const targets = browserslistToTargets(['chrome 111', 'firefox 128', 'safari 16.4']);
  const built = transform({ filename: 'app.css', code: Buffer.from(css), minify: true, targets }).code.toString();
  console.log(built);
  const isSet = /--lightningcss-light:initial/.test(built);
  const [, value] = /\.pay\{background:([^}]*)\}/.exec(built);
  // In light mode the first is unset, so its fallback counts; the second is set to nothing.
  return value.replace(/var\(--lightningcss-(light|dark),([^)]*)\)/g, (_, which, fallback) => isSet && which === 'dark' ? '' : ` ${fallback}`).trim();
}
const pay = '.pay { background: light-dark(red, green) }';
const found = [valueOf(pay), valueOf(`:root { color-scheme: light dark } ${pay}`)];
console.log(`without color-scheme: "${found[0]}", with it: "${found[1]}"`);
process.exit(JSON.stringify(found) === JSON.stringify(['red green', 'red']) ? 0 : 1);
JS
node build.mjs
