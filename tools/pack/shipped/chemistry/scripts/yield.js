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

const a = input.args;
const moles = a.mass_g / weigh(parse(a.limiting, masses));
const mass = moles * (a.ratio || 1) * weigh(parse(a.product, masses));
const result = {limiting: a.limiting, moles: round(moles, 5), theoretical_yield_g: round(mass, 3)};
if (a.got_g !== undefined) result.yield_percent = round(100 * a.got_g / mass, 1);
result;
