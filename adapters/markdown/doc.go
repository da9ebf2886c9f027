// Package markdown is how chat platforms show Markdown (CommonMark): models and
// people write it everywhere, and every platform reads a dialect of its own.
// The document is walked here once; what a platform writes for bold text, a
// link or a fence is its Dialect.
//
//	dialect.go  Dialect and the blocks: headings, lists, quotes, fences
//	inline.go   what stands within a paragraph: emphasis, code, links
//	table.go    tables, drawn with signs
//	escape.go   what escapes and entities of a source mean
//	cut.go      the beginning of a document; where a long text may be cut
//
// What lives elsewhere: which signs mean something on a platform, what pings
// somebody there, and how long a text may be (each adapter's draw).
package markdown
