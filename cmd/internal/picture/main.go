// Command picture draws docs/thread.svg: a thread as people see it, with the
// cards that Deckhand posts. `make picture` runs it.
//
// It plays the rehearsal of `deckhand demo` on a copy of a folder of this tree,
// on a chat platform without a wire, and draws what was posted there: nothing
// in the picture is written by hand but Ann's clicks.
//
//	main.go   the program
//	play.go   the run, and what Ann does
//	stage.go  the platform that keeps what is posted
//	draw.go   the parts of a card, from top to bottom
//	svg.go    shapes, lines of text and colours
//	text.go   Markdown as words with a weight, cut into lines
//
// How cards look on a real platform is in that platform's adapter.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
)

func main() {
	if code, is := kit.Child(os.Args); is { // the sandbox of run_code is this program again
		os.Exit(code)
	}
	folder := flag.String("folder", "tools", "the folder that is surveyed")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "picture: name the file to write, such as docs/thread.svg")
		os.Exit(2)
	}
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	if err := run(ctx, *folder, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, folder, out string) error {
	scenes, err := play(ctx, folder)
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(draw(scenes)), 0o644)
}
