package schedule_test

import (
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/bot/schedule"
)

func Example() {
	created := time.Date(2027, 3, 26, 12, 0, 0, 0, time.UTC) // a Friday, two days before the clocks go forward

	w, goal, err := schedule.ParsePrefix("every weekday 9am Europe/Berlin: water the plants", time.UTC, created)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(w, "does:", goal)
	fmt.Println("stored as:", w.Spec())
	fmt.Println("first:", w.Next(created))

	turn := schedule.Due(w, created, time.Date(2027, 3, 30, 7, 1, 0, 0, time.UTC), 10*time.Minute, schedule.Late)
	fmt.Println("serve:", turn.Tick, "missed:", turn.Count)

	_, err = schedule.Parse("every weekday", time.UTC, created)
	fmt.Println(err)

	// Output:
	// every weekday at 9:00 (Europe/Berlin) does: water the plants
	// stored as: every weekday at 9:00 Europe/Berlin
	// first: 2027-03-29 09:00:00 +0200 CEST
	// serve: 2027-03-30 09:00:00 +0200 CEST missed: 1
	// "every weekday" needs a time of day: write for example "every weekday at 9:00"
}
