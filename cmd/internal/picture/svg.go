package main

// Shapes and lines of text as SVG. Colours are classes: the picture follows its
// reader's light or dark scheme.

import (
	"fmt"
	"html"
	"strings"
)

// style is the picture's style sheet. Every colour stands twice.
const style = `
text { font-family: -apple-system, "Segoe UI", Helvetica, Arial, "Liberation Sans", "DejaVu Sans", sans-serif; fill: #1d1c1d; white-space: pre }
.bold { font-weight: 700 } .code { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }
.soft { fill: #616061 } .link { fill: #1264a3 } .white { fill: #ffffff } .page { fill: #ffffff; stroke: #d8d8dc }
.box { fill: #f6f6f7; stroke: #e3e3e6 } .line { stroke: #d8d8dc } .press { fill: none; stroke: #bbbbbf } .go { fill: #007a5a } .stop { fill: #c01343 }
.open { fill: none; stroke: #8d8d91 } .done { fill: #007a5a } .busy { fill: #1264a3 } .failed { fill: #c01343 } .tick { fill: none; stroke: #ffffff }
.bot { fill: #1b3a4b } .person { fill: #a0522d }
@media (prefers-color-scheme: dark) {
text { fill: #d9dadc } .soft { fill: #a3a4a6 } .link { fill: #62aef0 } .white { fill: #ffffff } .page { fill: #1a1d21; stroke: #3a3d42 }
.box { fill: #222529; stroke: #3a3d42 } .line { stroke: #3a3d42 } .press { stroke: #5c5f64 } .go { fill: #148567 } .stop { fill: #f2608a }
.open { stroke: #85878b } .done { fill: #2bac76 } .busy { fill: #62aef0 } .failed { fill: #f2608a } .bot { fill: #2f5d78 } .person { fill: #a0522d }
}
`

// canvas collects elements from top to bottom; y is where the next one begins.
type canvas struct {
	body strings.Builder
	y    float64
}

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(&c.body, format+"\n", args...) }

func (c *canvas) rect(class string, x, y, w, h, round float64) {
	c.add(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.1f"/>`, class, x, y, w, h, round)
}

// text writes spans on one line, whose base is at y.
func (c *canvas) text(x, y, size float64, class string, list ...span) {
	fmt.Fprintf(&c.body, `<text xml:space="preserve" class="%s" x="%.1f" y="%.1f" font-size="%.1f">`, class, x, y, size)
	for _, s := range list {
		if s.kind == "" {
			c.body.WriteString(html.EscapeString(s.text))
		} else {
			fmt.Fprintf(&c.body, `<tspan class="%s">%s</tspan>`, s.kind, html.EscapeString(s.text))
		}
	}
	c.body.WriteString("</text>\n")
}

// lines writes spans on as many lines as they need, and moves on below them.
func (c *canvas) lines(x, most, size float64, class string, list []span) {
	for _, line := range wrap(list, size, most) {
		c.y += size * 1.45
		c.text(x, c.y-size*0.38, size, class, line...)
	}
}

// svg is the whole picture.
func (c *canvas) svg(wide float64, title string) string {
	high := c.y
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img">
<title>%s</title>
<style>%s</style>
<rect class="page" x="0.5" y="0.5" width="%.1f" height="%.1f" rx="10"/>
%s</svg>
`, wide, high, wide, high, html.EscapeString(title), style, wide-1, high-1, c.body.String())
}
