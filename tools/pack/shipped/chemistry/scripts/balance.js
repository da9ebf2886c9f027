// Formulas taken apart: Ca(OH)2, CuSO4·5H2O, charges left out.
function parse(formula, masses) {
  const total = {};
  for (const part of formula.replace(/\s/g, '').split(/[·*.]/)) {
    const lead = part.match(/^\d+/);
    const counts = group(lead ? part.slice(lead[0].length) : part, masses, formula);
    for (const e in counts) total[e] = (total[e] || 0) + counts[e] * (lead ? +lead[0] : 1);
  }
  return total;
}
function group(text, masses, formula) {
  const stack = [{}];
  const token = /([A-Z][a-z]?)(\d*)|([([])|([)\]])(\d*)/y;
  let at = 0;
  while (at < text.length) {
    token.lastIndex = at;
    const m = token.exec(text);
    if (!m) throw new Error(`the formula ${formula} cannot be read at "${text.slice(at)}"`);
    at = token.lastIndex;
    const top = stack[stack.length - 1];
    if (m[1]) {
      if (!(m[1] in masses)) throw new Error(`there is no element ${m[1]} (in ${formula})`);
      top[m[1]] = (top[m[1]] || 0) + (m[2] ? +m[2] : 1);
    } else if (m[3]) stack.push({});
    else {
      if (stack.length === 1) throw new Error(`the formula ${formula} has a bracket too many`);
      const inner = stack.pop();
      const outer = stack[stack.length - 1];
      for (const e in inner) outer[e] = (outer[e] || 0) + inner[e] * (m[5] ? +m[5] : 1);
    }
  }
  if (stack.length > 1) throw new Error(`the formula ${formula} has an open bracket`);
  if (!Object.keys(stack[0]).length) throw new Error(`${formula} is no formula`);
  return stack[0];
}
const masses = Object.fromEntries((input.rows || []).map(r => [r.symbol, r.mass]));
const weigh = counts => Object.entries(counts).reduce((sum, [e, n]) => sum + masses[e] * n, 0);
const round = (x, digits) => +x.toFixed(digits);

// The coefficients are the whole numbers that solve "as many of each element on both sides".
const gcd = (a, b) => b ? gcd(b, a % b) : Math.abs(a);
const frac = (n, d = 1) => { const g = gcd(n, d) || 1; return d < 0 ? [-n / g, -d / g] : [n / g, d / g]; };
const sub = (a, b) => frac(a[0] * b[1] - b[0] * a[1], a[1] * b[1]);
const mul = (a, b) => frac(a[0] * b[0], a[1] * b[1]);
const div = (a, b) => frac(a[0] * b[1], a[1] * b[0]);
const sides = input.args.equation.split(/->|=|→/);
if (sides.length !== 2) throw new Error('an equation is written as A + B -> C + D');
const names = sides.map(s => s.split('+').map(x => x.trim().replace(/^\d+\s+/, '')));
const all = [...names[0], ...names[1]];
if (all.length > 12) throw new Error('at most 12 substances are balanced');
const counts = all.map(n => parse(n, masses));
const elements = [...new Set(counts.flatMap(c => Object.keys(c)))];
const rows = elements.map(e => counts.map((c, i) => frac((c[e] || 0) * (i < names[0].length ? 1 : -1))));
const pivots = [];
let r = 0;
for (let c = 0; c < all.length && r < rows.length; c++) {
  const p = rows.findIndex((row, i) => i >= r && row[c][0] !== 0);
  if (p < 0) continue;
  [rows[r], rows[p]] = [rows[p], rows[r]];
  const lead = rows[r][c];
  rows[r] = rows[r].map(x => div(x, lead));
  rows.forEach((row, i) => { if (i !== r && row[c][0] !== 0) { const f = row[c]; rows[i] = row.map((x, k) => sub(x, mul(f, rows[r][k]))); } });
  pivots.push(c);
  r++;
}
const free = all.map((_, i) => i).filter(i => !pivots.includes(i));
if (free.length !== 1) throw new Error(free.length ? 'the equation has several solutions: it is more than one reaction' : 'the equation cannot be balanced: an element is missing on one side');
const x = all.map(() => frac(0));
x[free[0]] = frac(1);
pivots.forEach((c, i) => { x[c] = mul(frac(-1), rows[i][free[0]]); });
const least = x.reduce((l, f) => l * f[1] / gcd(l, f[1]), 1);
const whole = x.map(f => f[0] * least / f[1]);
const shared = whole.reduce((a, b) => gcd(a, b), 0);
const k = whole.map(n => n / shared);
if (k.some(n => n <= 0)) throw new Error('the equation cannot be balanced as it stands: a substance is on the wrong side');
const write = (from, list) => list.map((n, i) => (k[from + i] > 1 ? k[from + i] + ' ' : '') + n).join(' + ');
write(0, names[0]) + ' -> ' + write(names[0].length, names[1]);
