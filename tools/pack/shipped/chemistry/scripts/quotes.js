// A quote is right when its very words, blanks aside, stand in the paper.
const plain = s => s.toLowerCase().replace(/[“”„"']/g, '').replace(/\s+/g, ' ').trim();
const papers = Object.fromEntries(input.rows.map(r => [r.id, plain(r.text)]));
const told = input.args.quotes.map(q => ({paper: q.paper, quote: q.quote, found: q.paper in papers && plain(q.quote).length > 9 && papers[q.paper].includes(plain(q.quote)),
  ...(q.paper in papers ? {} : {problem: 'there is no such paper'})}));
({all_found: told.every(t => t.found), quotes: told});
