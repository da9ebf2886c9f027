package plot

// Bars, lines, points and histograms.

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// The size of a picture: inches and dots per inch. Charts with bars on their
// side grow with the number of bars.
const (
	pageWidth  = 9 * vg.Inch
	pageHeight = 5.2 * vg.Inch
	margin     = 0.22 * vg.Inch
	barPitch   = 0.27 * vg.Inch
	lift       = vg.Length(1.4) // points by which centred text sits too low
	sharpness  = 150
)

// picture is the chart as a PNG with so many dots per inch.
func picture(c chart, dpi int) ([]byte, error) {
	height := pageHeight
	var paint func(draw.Canvas)
	switch c.kind {
	case "pie":
		paint = func(d draw.Canvas) { drawPie(c, d) }
	default:
		p, h, err := cartesian(c)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrData, err)
		}
		height, paint = h, p.Draw
	}
	canvas := vgimg.NewWith(vgimg.UseWH(pageWidth, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
	paint(draw.Crop(draw.New(canvas), margin, -margin, margin, -margin))
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encoding the picture: %w", err)
	}
	return b.Bytes(), nil
}

// cartesian is a chart with axes and the height of its page.
func cartesian(c chart) (*plot.Plot, vg.Length, error) {
	switch c.kind {
	case "bar":
		return bars(c)
	case "histogram":
		p, err := histogram(c)
		return p, pageHeight, err
	}
	p, err := points(c)
	return p, pageHeight, err
}

// bars stand where their labels fit below them, and lie else.
func bars(c chart) (*plot.Plot, vg.Length, error) {
	p := blank(c)
	n := len(c.values)
	slot := (pageWidth - 2*margin - 0.8*vg.Inch) / vg.Length(n)
	tick := style(10, ink)
	fits := n <= 16
	for i, l := range c.labels {
		fits = fits && tick.Width(l) < slot*0.92 && style(9.5, ink).Width(readable(c.values[i])) < slot*0.96
	}
	height, values := pageHeight, slices.Clone(c.values)
	if !fits {
		slot = barPitch
		height = max(2.6*vg.Inch, vg.Length(n)*barPitch+1.3*vg.Inch)
		slices.Reverse(values) // the first bar is at the top
	}
	frameBars(p, c, fits, height) // the grid must be added first to lie behind the bars
	at := make(plotter.XYs, n)
	for i, v := range values {
		bar, err := plotter.NewBarChart(plotter.Values{v}, min(slot*0.68, 0.9*vg.Inch))
		if err != nil {
			return nil, 0, err
		}
		bar.Horizontal, bar.XMin, bar.Color, bar.LineStyle.Width = !fits, float64(i), blue, 0
		if c.other > 0 && i == map[bool]int{true: n - 1, false: 0}[fits] {
			bar.Color = grey
		}
		p.Add(bar)
		at[i] = plotter.XY{X: float64(i), Y: v}
		if !fits {
			at[i] = plotter.XY{X: v, Y: float64(i)}
		}
	}
	return p, height, labelBars(p, at, values, fits)
}

// labelBars writes each value at the end of its bar.
func labelBars(p *plot.Plot, at plotter.XYs, values []float64, standing bool) error {
	for i, v := range values {
		l, err := plotter.NewLabels(plotter.XYLabels{XYs: at[i : i+1], Labels: []string{readable(v)}})
		if err != nil {
			return err
		}
		s, gap := style(9.5, ink), vg.Points(5)
		if v < 0 {
			gap = -gap
		}
		switch {
		case standing && v < 0:
			s.YAlign = draw.YTop
		case standing:
			s.YAlign = draw.YBottom
		case v < 0:
			s.XAlign = draw.XRight
		default:
			s.XAlign = draw.XLeft
		}
		l.TextStyle[0], l.Offset = s, vg.Point{X: gap, Y: lift}
		if standing {
			l.Offset = vg.Point{Y: gap}
		}
		p.Add(l)
	}
	return nil
}

// frameBars makes the axes of bars: names on one, values from zero on the other.
func frameBars(p *plot.Plot, c chart, standing bool, height vg.Length) {
	names, values := &p.X, &p.Y
	labels := slices.Clone(c.labels)
	if !standing {
		names, values = &p.Y, &p.X
		slices.Reverse(labels)
		titleAxes(p, c.yLabel, c.xLabel, height) // the axes changed places
	}
	marks := make([]plot.Tick, 0, len(labels))
	for i, l := range labels {
		marks = append(marks, plot.Tick{Value: float64(i), Label: l})
	}
	names.Tick.Marker = plot.ConstantTicks(marks)
	names.Tick.Label.Color = ink
	names.Min, names.Max = -0.5, float64(len(labels))-0.5
	values.Tick.Marker = ticks{}
	values.Min, values.Max = span(c.values, true)
	addGrid(p, !standing, standing)
	ends := plotter.XYs{{X: names.Min}, {X: names.Max}}
	if !standing {
		ends = plotter.XYs{{Y: names.Min}, {Y: names.Max}}
	}
	p.Add(&plotter.Line{XYs: ends, LineStyle: draw.LineStyle{Color: grey, Width: vg.Points(1)}})
}

// span is the range of an axis with some air; from zero for bars.
func span(values []float64, zero bool) (lo, hi float64) {
	lo, hi = slices.Min(values), slices.Max(values)
	if zero {
		lo, hi = min(lo, 0), max(hi, 0)
	}
	air := (hi - lo) * 0.05
	if air == 0 {
		air = max(math.Abs(hi)*0.05, 0.5)
	}
	if !zero || hi > 0 || lo == 0 {
		hi += air
	}
	if !zero || lo < 0 {
		lo -= air
	}
	return lo, hi
}

// addGrid adds hair lines; what is added later lies over them.
func addGrid(p *plot.Plot, vertical, horizontal bool) {
	g := plotter.NewGrid()
	line := draw.LineStyle{Color: hair, Width: vg.Points(0.7)}
	g.Vertical, g.Horizontal = draw.LineStyle{}, draw.LineStyle{}
	if vertical {
		g.Vertical = line
	}
	if horizontal {
		g.Horizontal = line
	}
	p.Add(g)
}

// points are a line or a scatter.
func points(c chart) (*plot.Plot, error) {
	p := blank(c)
	xs, numeric := positions(c)
	xys := make(plotter.XYs, len(xs))
	for i := range xs {
		xys[i] = plotter.XY{X: xs[i], Y: c.values[i]}
	}
	addGrid(p, c.kind == "scatter", true)
	if c.kind == "line" {
		line, err := plotter.NewLine(envelope(xys))
		if err != nil {
			return nil, err
		}
		line.LineStyle = draw.LineStyle{Color: blue, Width: vg.Points(2)}
		p.Add(line)
	}
	if c.kind == "scatter" || len(xys) <= 60 {
		dots, err := plotter.NewScatter(apart(xys))
		if err != nil {
			return nil, err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: blue, Radius: vg.Points(3.2), Shape: draw.CircleGlyph{}}
		p.Add(dots)
	}
	p.X.Min, p.X.Max = span(xs, false)
	p.Y.Min, p.Y.Max = span(c.values, false)
	p.Y.Tick.Marker, p.X.Tick.Marker = ticks{}, ticks{}
	if !numeric {
		p.X.Tick.Marker = thinned(xs, c.labels, p.X.Min, p.X.Max)
	}
	if c.kind == "line" && len(xys) <= 14 {
		return p, labelPoints(p, xys)
	}
	return p, nil
}

// What a picture can show at most, whatever it is given: more costs time and
// changes no pixel.
const (
	mostColumns = 600 // of a line; each shows its lowest and its highest value
	mostCells   = 45  // of dots, on each axis
)

// envelope is a line with at most two points for each column of the picture, the
// lowest and the highest in their order. Its x rise.
func envelope(xys plotter.XYs) plotter.XYs {
	if len(xys) <= 2*mostColumns {
		return xys
	}
	left, width := xys[0].X, xys[len(xys)-1].X-xys[0].X
	var out plotter.XYs
	for from := 0; from < len(xys); {
		column := cell(xys[from].X, left, width, mostColumns)
		lo, hi, to := from, from, from
		for ; to < len(xys) && cell(xys[to].X, left, width, mostColumns) == column; to++ {
			if xys[to].Y < xys[lo].Y {
				lo = to
			}
			if xys[to].Y > xys[hi].Y {
				hi = to
			}
		}
		out = append(out, xys[min(lo, hi)])
		if lo != hi {
			out = append(out, xys[max(lo, hi)])
		}
		from = to
	}
	return out
}

// apart are the dots without those that lie on others: one for each cell of the
// picture.
func apart(xys plotter.XYs) plotter.XYs {
	if len(xys) <= mostCells*mostCells {
		return xys
	}
	left, right, bottom, top := plotter.XYRange(xys)
	seen := map[[2]int]bool{}
	var out plotter.XYs
	for _, at := range xys {
		key := [2]int{cell(at.X, left, right-left, mostCells), cell(at.Y, bottom, top-bottom, mostCells)}
		if !seen[key] {
			seen[key] = true
			out = append(out, at)
		}
	}
	return out
}

// cell is in which of so many cells of a width a value lies.
func cell(v, from, width float64, cells int) int {
	if width <= 0 {
		return 0
	}
	return min(int((v-from)/width*float64(cells)), cells-1)
}

// positions are the labels as numbers where all are numbers, else 1, 2, 3…
// Lines need them to rise.
func positions(c chart) (xs []float64, numeric bool) {
	numeric = true
	for i := range c.values {
		x := float64(i + 1)
		if len(c.labels) > 0 {
			v, err := strconv.ParseFloat(c.labels[i], 64)
			numeric = numeric && err == nil && math.Abs(v) <= largest && (c.kind == "scatter" || i == 0 || v > xs[i-1])
			x = v
		}
		xs = append(xs, x)
	}
	if !numeric {
		for i := range xs {
			xs[i] = float64(i + 1)
		}
	}
	return xs, numeric
}

// thinned are as many labels as fit beside each other.
func thinned(xs []float64, labels []string, lo, hi float64) plot.ConstantTicks {
	widestLabel := vg.Length(1)
	for _, l := range labels {
		widestLabel = max(widestLabel, style(9.5, faint).Width(l))
	}
	room := (pageWidth - 2*margin - 0.9*vg.Inch) * vg.Length((xs[len(xs)-1]-xs[0])/(hi-lo))
	every := 1
	for vg.Length((len(xs)-1)/every)*(widestLabel+vg.Points(8)) > room && every < len(xs) {
		every++
	}
	var out plot.ConstantTicks
	for i := 0; i < len(xs); i += every {
		out = append(out, plot.Tick{Value: xs[i], Label: labels[i]})
	}
	return out
}

// labelPoints writes each value beside its point, where the line is not.
func labelPoints(p *plot.Plot, xys plotter.XYs) error {
	for i, xy := range xys {
		l, err := plotter.NewLabels(plotter.XYLabels{XYs: xys[i : i+1], Labels: []string{readable(xy.Y)}})
		if err != nil {
			return err
		}
		before, after := xy.Y, xy.Y
		if i > 0 {
			before = xys[i-1].Y
		}
		if i < len(xys)-1 {
			after = xys[i+1].Y
		}
		s := style(9, ink)
		s.YAlign, l.Offset = draw.YBottom, vg.Point{Y: vg.Points(5)}
		switch {
		case before >= xy.Y && after >= xy.Y && before+after > 2*xy.Y:
			s.YAlign, l.Offset.Y = draw.YTop, -vg.Points(6)
		case before < xy.Y && xy.Y < after:
			s.XAlign, l.Offset.X = draw.XRight, vg.Points(2)
		case before > xy.Y && xy.Y > after:
			s.XAlign, l.Offset.X = draw.XLeft, -vg.Points(2)
		}
		l.TextStyle[0] = s
		p.Add(l)
	}
	return nil
}

// histogram counts values in bins; their number is Sturges' (1 + log2 n).
func histogram(c chart) (*plot.Plot, error) {
	p := blank(c)
	n := min(40, max(4, 1+int(math.Ceil(math.Log2(float64(len(c.values)))))))
	if slices.Min(c.values) == slices.Max(c.values) {
		n = 1
	}
	h, err := plotter.NewHist(plotter.Values(c.values), n)
	if err != nil {
		return nil, err
	}
	h.FillColor = blue
	h.LineStyle = draw.LineStyle{Color: color.White, Width: vg.Points(1.2)}
	addGrid(p, false, true)
	p.Add(h)
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks{}, ticks{}
	p.Y.Min, p.Y.Max = 0, p.Y.Max*1.05
	if p.Y.Label.Text == "" {
		p.Y.Label.Text = "number of values"
	}
	return p, nil
}
