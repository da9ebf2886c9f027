// Units of the laboratory, each with its size in the base of its kind.
const kinds = {
  mass: {kg: 1e3, g: 1, mg: 1e-3, ug: 1e-6, 'µg': 1e-6, ng: 1e-9, lb: 453.59237, oz: 28.349523125, t: 1e6},
  volume: {l: 1, L: 1, dl: 0.1, dL: 0.1, cl: 0.01, ml: 1e-3, mL: 1e-3, ul: 1e-6, 'µl': 1e-6, 'µL': 1e-6, m3: 1e3, cm3: 1e-3, gal: 3.785411784},
  length: {m: 1, cm: 0.01, mm: 1e-3, um: 1e-6, 'µm': 1e-6, nm: 1e-9, pm: 1e-12, 'Å': 1e-10, in: 0.0254, ft: 0.3048},
  pressure: {Pa: 1, hPa: 100, kPa: 1e3, MPa: 1e6, bar: 1e5, mbar: 100, atm: 101325, torr: 133.322368421, mmHg: 133.322387415, psi: 6894.757293168},
  energy: {J: 1, kJ: 1e3, cal: 4.184, kcal: 4184, eV: 1.602176634e-19, kWh: 3.6e6},
  amount: {mol: 1, mmol: 1e-3, umol: 1e-6, 'µmol': 1e-6, kmol: 1e3},
  time: {s: 1, ms: 1e-3, min: 60, h: 3600, d: 86400},
  concentration: {M: 1, mM: 1e-3, uM: 1e-6, 'µM': 1e-6, 'mol/l': 1, 'mol/L': 1},
};
const heat = {K: [1, 0], C: [1, 273.15], '°C': [1, 273.15], F: [5 / 9, 459.67 * 5 / 9], '°F': [5 / 9, 459.67 * 5 / 9]};
const {value, from, to} = input.args;
const show = x => +x.toPrecision(12);
let result;
if (from in heat && to in heat) result = (value * heat[from][0] + heat[from][1] - heat[to][1]) / heat[to][0];
else {
  const kind = Object.keys(kinds).find(k => from in kinds[k]);
  if (!kind) throw new Error(`there is no unit ${from}; known are ${Object.values(kinds).flatMap(Object.keys).concat(Object.keys(heat)).join(', ')}`);
  if (!(to in kinds[kind])) throw new Error(`${from} is a unit of ${kind}, and ${to} is none: ${Object.keys(kinds[kind]).join(', ')}`);
  result = value * kinds[kind][from] / kinds[kind][to];
}
`${value} ${from} = ${show(result)} ${to}`;
