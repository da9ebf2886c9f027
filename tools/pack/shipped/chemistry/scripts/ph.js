const {concentration: c, kind, pk} = input.args;
const log = x => Math.log(x) / Math.LN10;
if ((kind === 'weak acid' || kind === 'weak base') && pk === undefined) throw new Error('a weak acid or base needs its pKa or pKb as pk');
const weak = () => { const k = Math.pow(10, -pk); return (-k + Math.sqrt(k * k + 4 * k * c)) / 2; };
const ph = {'strong acid': () => -log(c), 'strong base': () => 14 + log(c), 'weak acid': () => -log(weak()), 'weak base': () => 14 + log(weak())}[kind]();
({ph: +ph.toFixed(2), at: '25 °C'});
