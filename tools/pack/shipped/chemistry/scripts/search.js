// Papers by the share of the words that they have, titles counting twice.
const words = [...new Set(input.args.query.toLowerCase().match(/[a-z0-9-]{3,}/g) || [])].map(w => w.replace(/s$/, ''));
if (!words.length) throw new Error('give words to search for');
const hits = input.rows.map(r => {
  const title = r.title.toLowerCase(), text = r.text.toLowerCase();
  return {r, n: words.reduce((n, w) => n + (title.includes(w) ? 2 : 0) + (text.includes(w) ? 1 : 0), 0)};
}).filter(h => h.n > 0).sort((a, b) => b.n - a.n || b.r.year - a.r.year).slice(0, input.args.limit || 5);
hits.length ? hits.map(({r}) => `${r.id} ${r.title} (${r.authors}, ${r.year}): ${r.text.slice(0, 140)}…`).join('\n') : 'no paper has these words';
