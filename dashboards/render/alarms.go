package render

import (
	"fmt"
	"slices"
)

const (
	alarmLine  = 18.0
	alarmWidth = 330.0 // of an alarm in a column
)

// drawAlarms draws alarms in columns, those that fired first. Up to texts of those that fired have a line of their own
// with their text. What does not fit is counted.
func drawAlarms(on canvas, all []Alarm, width, height float64, texts int) {
	all = slices.Clone(all)
	sortAlarms(all)
	y, lines := 0.0, int(height/alarmLine)
	for texts > 0 && len(all) > 0 && all[0].Tripped && lines > 1 {
		y += alarmLine
		all[0].chip(on, point{12, y - 4}, alarmWidth)
		on.text(point{12 + alarmWidth, y - 4}, begins, small, clip(all[0].Text, int((width-alarmWidth-24)/letter)))
		all = all[1:]
		texts, lines = texts-1, lines-1
	}
	columns := max(1, int((width-12)/alarmWidth))
	step := (width - 24) / float64(columns)
	room := max(1, columns*lines)
	for i := range all {
		at := point{12 + float64(i%columns)*step, y + float64(i/columns+1)*alarmLine - 4}
		if i == room-1 && i < len(all)-1 {
			on.text(at, begins, small, fmt.Sprintf("and %d more: %s", len(all)-i, counts(all[i:])))
			return
		}
		all[i].chip(on, at, step)
	}
}

// chip writes the alarm's state and name.
func (a *Alarm) chip(on canvas, at point, width float64) {
	look := small
	switch {
	case a.Tripped:
		look = alarming
	case a.State == OK:
		look = fine
	}
	state := a.State
	if state == InsufficientData {
		state = "no data"
	}
	indent := max(64, 8*float64(letters(state)))
	on.text(at, begins, look, state)
	on.text(point{at.x + indent, at.y}, begins, prose, cut(a.Name, int((width-indent-8)/7)))
}

// counts returns how many alarms are in which state.
func counts(all []Alarm) string {
	fired, fineOnes := 0, 0
	for i := range all {
		fired += btoi(all[i].Tripped)
		fineOnes += btoi(all[i].State == OK && !all[i].Tripped)
	}
	return fmt.Sprintf("%d in ALARM, %d OK, %d other", fired, fineOnes, len(all)-fired-fineOnes)
}
