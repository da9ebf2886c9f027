package plot

// This file gives all charts one look: colours, fonts, titles that fit, and
// axis values that people can read.

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The muted colours of charts.
var (
	ink     = color.RGBA{0x33, 0x3B, 0x45, 0xFF}
	faint   = color.RGBA{0x6B, 0x75, 0x80, 0xFF}
	hair    = color.RGBA{0xE4, 0xE7, 0xEB, 0xFF}
	blue    = color.RGBA{0x5B, 0x84, 0xB1, 0xFF}
	grey    = color.RGBA{0xB4, 0xBC, 0xC5, 0xFF}
	palette = []color.RGBA{
		blue, {0xE0, 0x9F, 0x5A, 0xFF}, {0x7F, 0xA9, 0x7A, 0xFF}, {0xC2, 0x75, 0x6B, 0xFF}, {0x8E, 0x7B, 0xAE, 0xFF},
		{0x6F, 0xB0, 0xB3, 0xFF}, {0xCB, 0xB2, 0x5E, 0xFF}, {0xB5, 0x86, 0x9F, 0xFF}, grey,
	}
)

// style is sans-serif text of a size in points.
func style(size float64, c color.Color) text.Style {
	return text.Style{
		Color: c, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Points(size)),
		XAlign: draw.XCenter, YAlign: draw.YCenter, Handler: plot.DefaultTextHandler,
	}
}

// fitted is as much of a text as fits into a width.
func fitted(s text.Style, t string, width vg.Length) string {
	out := t
	for r := []rune(t); len(r) > 1 && s.Width(out) > width; {
		r = r[:len(r)-1]
		out = string(r) + "…"
	}
	return out
}

// blank is a plot with a title and quiet axes.
func blank(c chart) *plot.Plot {
	p := plot.New()
	p.Title.TextStyle = style(14, ink)
	p.Title.Text = fitted(p.Title.TextStyle, c.title, pageWidth-4*margin)
	p.Title.TextStyle.YAlign = draw.YTop
	p.Title.Padding = vg.Points(14)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Width, a.Tick.Length = 0, 0 // the grid is enough
		a.Padding = vg.Points(6)
		a.Label.Padding = vg.Points(8)
	}
	p.X.Label.TextStyle, p.Y.Label.TextStyle = style(10, faint), style(10, faint)
	p.X.Label.TextStyle.YAlign, p.Y.Label.TextStyle.YAlign = draw.YBottom, draw.YBottom
	titleAxes(p, c.xLabel, c.yLabel, pageHeight)
	tick := style(9.5, faint)
	p.X.Tick.Label, p.Y.Tick.Label = tick, tick
	p.X.Tick.Label.YAlign = draw.YTop
	p.Y.Tick.Label.XAlign = draw.XRight
	return p
}

// titleAxes writes beside the axes what fits on a page of the height.
func titleAxes(p *plot.Plot, x, y string, height vg.Length) {
	p.X.Label.Text = fitted(p.X.Label.TextStyle, x, pageWidth/2)
	p.Y.Label.Text = fitted(p.Y.Label.TextStyle, y, height-1.5*vg.Inch)
}

// ticks are about six round values with readable labels.
type ticks struct{}

// Ticks returns the multiples of 1, 2 or 5 times a power of ten between lo
// and hi.
func (ticks) Ticks(lo, hi float64) []plot.Tick {
	raw := (hi - lo) / 6
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{2, 2.5, 2} { // 2, 5, 10
		if step < raw {
			step *= m
		}
	}
	var out []plot.Tick
	for k := math.Ceil(lo / step); k*step <= hi && len(out) < 20; k++ {
		out = append(out, plot.Tick{Value: k * step, Label: readable(k * step)})
	}
	return out
}

// readable is a number as people write it: 12,345 or 0.25, and powers of ten
// where it is very large or small.
func readable(v float64) string {
	if v == 0 {
		return "0" // and not −0
	}
	a := math.Abs(v)
	if a >= 1e12 || a < 1e-4 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	digits := 0
	if v != math.Trunc(v) && a < 10_000 {
		digits = max(0, 3-int(math.Floor(math.Log10(a))))
	}
	s := strconv.FormatFloat(v, 'f', min(digits, 6), 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	whole, part, _ := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "−", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if part != "" {
		whole += "." + part
	}
	return sign + whole
}
