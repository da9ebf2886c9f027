package markdown

import (
	"strings"
	"unicode/utf8"

	table "github.com/yuin/goldmark/extension/ast"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// maxCell is how many characters of a table's cell are shown.
const maxCell = 60

// table draws a table with signs: chats have none of their own.
func (w writer) table(t *table.Table) string {
	var rows [][]string
	var widths []int
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		var row []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cell := format.Line(w.plain(c), maxCell)
			if len(row) == len(widths) {
				widths = append(widths, 0)
			}
			widths[len(row)] = max(widths[len(row)], utf8.RuneCountInString(cell))
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	var b strings.Builder
	for i, row := range rows {
		cells := make([]string, len(row))
		for j, cell := range row {
			cells[j] = cell + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell))
		}
		b.WriteString(strings.Join(cells, " | ") + "\n")
		if i == 0 {
			b.WriteString(ruler(widths) + "\n")
		}
	}
	return b.String()
}

// ruler parts a table's head from its rows.
func ruler(widths []int) string {
	lines := make([]string, len(widths))
	for i, width := range widths {
		lines[i] = strings.Repeat("-", width)
	}
	return strings.Join(lines, "-+-")
}
