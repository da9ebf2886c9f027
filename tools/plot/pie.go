package plot

// Pies, which gonum/plot does not have.

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawPie draws slices clockwise from the top, and a row for each beside
// them: there labels never overlap.
func drawPie(c chart, d draw.Canvas) {
	if c.title != "" {
		title := style(14, ink)
		title.YAlign = draw.YTop
		d.FillText(title, vg.Point{X: d.Center().X, Y: d.Max.Y}, fitted(title, c.title, pageWidth-4*margin))
		d = draw.Crop(d, 0, 0, 0, -title.Height(c.title)-vg.Points(20))
	}
	sum := 0.0
	for _, v := range c.values {
		sum += v
	}
	radius := min(d.Max.Y-d.Min.Y, (d.Max.X-d.Min.X)/2) / 2
	center := vg.Point{X: d.Min.X + (d.Max.X-d.Min.X)*0.29, Y: d.Center().Y}
	start := math.Pi / 2
	for i, v := range c.values {
		angle := -2 * math.Pi * v / sum
		slice(d, center, radius, start, angle, i)
		start += angle
	}
	row := vg.Points(24)
	left := d.Min.X + (d.Max.X-d.Min.X)*0.58
	top := center.Y + row*vg.Length(len(c.values)-1)/2
	for i, v := range c.values {
		y := top - vg.Length(i)*row
		box := vg.Points(6)
		d.FillPolygon(palette[i%len(palette)], []vg.Point{
			{X: left, Y: y - box}, {X: left + 2*box, Y: y - box}, {X: left + 2*box, Y: y + box}, {X: left, Y: y + box},
		})
		name, figure := style(10.5, ink), style(10.5, faint)
		name.XAlign, figure.XAlign = draw.XLeft, draw.XRight
		text := readable(v) + "  ·  " + readable(math.Round(v/sum*1000)/10) + " %"
		room := d.Max.X - left - vg.Points(28) - figure.Width(text)
		d.FillText(name, vg.Point{X: left + vg.Points(20), Y: y + lift}, fitted(name, c.labels[i], room))
		d.FillText(figure, vg.Point{X: d.Max.X, Y: y + lift}, text)
	}
}

func slice(d draw.Canvas, center vg.Point, radius vg.Length, start, angle float64, i int) {
	var p vg.Path
	p.Move(center)
	p.Line(vg.Point{X: center.X + radius*vg.Length(math.Cos(start)), Y: center.Y + radius*vg.Length(math.Sin(start))})
	p.Arc(center, radius, start, angle)
	p.Close()
	d.SetColor(palette[i%len(palette)])
	d.Fill(p)
	d.SetLineStyle(draw.LineStyle{Color: hair, Width: vg.Points(1)})
	d.Stroke(p)
}
