package asl

import (
	"strconv"

	"stepback/jsonvalue"
)

// retriers writes a Retry array with its defaults. A BackoffRate of 0 is not allowed in the language, and means the
// default here.
func (w writer) retriers(retriers []Retrier) {
	if retriers == nil {
		return
	}
	elements := make([]jsonvalue.Value, len(retriers))
	for i := range retriers {
		elements[i] = w.element(func(w writer) { w.retrier(&retriers[i]) })
	}
	w.object.Set("Retry", jsonvalue.OfArray(elements))
}

func (w writer) retrier(r *Retrier) {
	w.text("Comment", r.Comment)
	w.texts("ErrorEquals", r.ErrorEquals)
	w.object.Set("IntervalSeconds", jsonvalue.OfInt(r.IntervalSeconds))
	w.object.Set("MaxAttempts", jsonvalue.OfInt(r.MaxAttempts))
	if r.BackoffRate != 0 {
		w.object.Set("BackoffRate", jsonvalue.OfNumberText(strconv.FormatFloat(r.BackoffRate, 'f', -1, 64)))
	}
	w.integer("MaxDelaySeconds", r.MaxDelaySeconds)
	if r.FullJitter {
		w.text("JitterStrategy", "FULL")
	}
}

func (w writer) catchers(catchers []Catcher) {
	if catchers == nil {
		return
	}
	elements := make([]jsonvalue.Value, len(catchers))
	for i := range catchers {
		elements[i] = w.element(func(w writer) { w.catcher(&catchers[i]) })
	}
	w.object.Set("Catch", jsonvalue.OfArray(elements))
}

func (w writer) catcher(c *Catcher) {
	w.text("Comment", c.Comment)
	w.texts("ErrorEquals", c.ErrorEquals)
	w.path("ResultPath", c.ResultPath)
	w.any("Assign", c.Assign)
	w.any("Output", c.Output)
	w.text("Next", c.Next)
}
