package metricmath

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// function implements a function of metric math. Its arguments have been evaluated.
type function func(*evaluator, []value) (value, error)

// functions contains all functions except PERIOD and METRICS, whose arguments are not values. init fills it,
// because SEARCH and the others refer to each other.
var functions map[string]function

func init() { //nolint:gochecknoinits // a table cannot refer to itself otherwise
	functions = map[string]function{
		"ABS": per1(math.Abs), "CEIL": per1(math.Ceil), "FLOOR": per1(math.Floor), "LOG": per1(math.Log),
		"LOG10": per1(math.Log10), "EXP": per1(math.Exp),
		"SUM": across(sumOf), "AVG": across(average), "MIN": across(least), "MAX": across(greatest), "STDDEV": across(deviation),
		"METRIC_COUNT": metricCount, "DATAPOINT_COUNT": datapointCount,
		"DIFF": of1(diff), "DIFF_TIME": of1(diffTime), "RATE": of1(rate), "RUNNING_SUM": of1(runningSum),
		"FILL": fill, "IF": choose, "FIRST": edge(0), "LAST": edge(-1), "SLICE": slice, "SORT": sorted,
		"REMOVE_EMPTY": removeEmpty, "TIME_SERIES": timeSeries, "SEARCH": search,
		"MINUTE": calendar(time.Time.Minute), "HOUR": calendar(time.Time.Hour), "DAY": calendar(weekday),
		"DATE": calendar(time.Time.Day), "MONTH": calendar(func(t time.Time) int { return int(t.Month()) }),
		"YEAR": calendar(time.Time.Year), "EPOCH": calendar(func(t time.Time) int { return int(t.Unix()) }),
	}
}

var (
	errOne    = errors.New("takes one argument")
	errSeries = errors.New("takes time series")
)

// weekday returns the day of the week; Monday is 1.
func weekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

func per1(f func(float64) float64) function {
	return func(_ *evaluator, a []value) (value, error) {
		if len(a) != 1 || a[0].kind == text {
			return value{}, errOne
		}
		return a[0].each(f), nil
	}
}

func of1(f func(Series, Grid) Series) function {
	return func(e *evaluator, a []value) (value, error) {
		if len(a) != 1 {
			return value{}, errOne
		}
		if a[0].kind == number || a[0].kind == text {
			return value{}, errSeries
		}
		return a[0].per(func(s Series) Series { return f(s, e.grid) }), nil
	}
}

// across returns a function that aggregates a series to a number, and an array to a series.
func across(f func([]float64) float64) function {
	return func(e *evaluator, a []value) (value, error) {
		if len(a) != 1 {
			return value{}, errOne
		}
		switch v := a[0]; v.kind {
		case series:
			return ofNumber(f(present(v.list[0].Values))), nil
		case list:
			made := make(Series, e.grid.Len)
			for i := range made {
				var there []float64
				for _, l := range v.list {
					if !math.IsNaN(l.Values[i]) {
						there = append(there, l.Values[i])
					}
				}
				made[i] = f(there)
			}
			return ofSeries("", made), nil
		default:
			return value{}, errSeries
		}
	}
}

func sumOf(all []float64) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range all {
		sum += x
	}
	return sum
}

func average(all []float64) float64 { return sumOf(all) / float64(len(all)) }

func least(all []float64) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	return slices.Min(all)
}

func greatest(all []float64) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	return slices.Max(all)
}

// deviation returns the population standard deviation.
func deviation(all []float64) float64 {
	mean, sum := average(all), 0.0
	for _, x := range all {
		sum += (x - mean) * (x - mean)
	}
	return math.Sqrt(sum / float64(len(all)))
}

func metricCount(_ *evaluator, a []value) (value, error) {
	if len(a) != 1 || a[0].kind == text || a[0].kind == number {
		return value{}, errSeries
	}
	return ofNumber(float64(len(a[0].list))), nil
}

func datapointCount(e *evaluator, a []value) (value, error) {
	return across(func(all []float64) float64 { return float64(len(all)) })(e, a)
}

func diff(s Series, _ Grid) Series {
	made, last := make(Series, len(s)), math.NaN()
	for i, x := range s {
		made[i] = x - last
		if !math.IsNaN(x) {
			last = x
		}
	}
	return made
}

func diffTime(s Series, g Grid) Series {
	made, last := make(Series, len(s)), -1
	for i, x := range s {
		made[i] = math.NaN()
		if math.IsNaN(x) {
			continue
		}
		if last >= 0 {
			made[i] = (time.Duration(i-last) * g.Period).Seconds()
		}
		last = i
	}
	return made
}

func rate(s Series, g Grid) Series { return zip(diff(s, g), diffTime(s, g), operations["/"]) }

func runningSum(s Series, _ Grid) Series {
	made, sum := make(Series, len(s)), 0.0
	for i, x := range s {
		if !math.IsNaN(x) {
			sum += x
		}
		made[i] = sum
	}
	return made
}

// fill implements FILL(series, filler). The filler is a number, a series, REPEAT or LINEAR.
func fill(_ *evaluator, a []value) (value, error) {
	if len(a) != 2 || a[0].kind == text || a[0].kind == number || a[1].kind == list {
		return value{}, errors.New("takes time series, and a number, a time series, REPEAT or LINEAR")
	}
	return a[0].per(func(s Series) Series {
		made := slices.Clone(s)
		last := -1
		for i, x := range s {
			if !math.IsNaN(x) {
				if a[1].text == "LINEAR" && last >= 0 {
					for j := last + 1; j < i; j++ {
						made[j] = s[last] + (x-s[last])*float64(j-last)/float64(i-last)
					}
				}
				last = i
				continue
			}
			switch {
			case a[1].kind == number:
				made[i] = a[1].number
			case a[1].kind == series:
				made[i] = a[1].list[0].Values[i]
			case a[1].text == "REPEAT" && last >= 0:
				made[i] = s[last]
			}
		}
		return made
	}), nil
}

// choose implements IF(condition, then) and IF(condition, then, otherwise).
func choose(e *evaluator, a []value) (value, error) {
	if len(a) != 2 && len(a) != 3 {
		return value{}, errors.New("takes a condition, a value and a value otherwise")
	}
	if len(a) == 2 {
		a = append(a, ofNumber(math.NaN()))
	}
	for _, v := range a {
		if v.kind == text || v.kind == list {
			return value{}, errSeries
		}
	}
	if a[0].kind == number {
		if a[0].number != 0 {
			return a[1], nil
		}
		return a[2], nil
	}
	at := func(v value, i int) float64 {
		if v.kind == number {
			return v.number
		}
		return v.list[0].Values[i]
	}
	made := make(Series, e.grid.Len)
	for i := range made {
		switch c := at(a[0], i); {
		case math.IsNaN(c):
			made[i] = c
		case c != 0:
			made[i] = at(a[1], i)
		default:
			made[i] = at(a[2], i)
		}
	}
	return ofSeries(a[0].list[0].Label, made), nil
}

// edge implements FIRST and LAST of an array.
func edge(at int) function {
	return func(_ *evaluator, a []value) (value, error) {
		if len(a) != 1 || a[0].kind != list || len(a[0].list) == 0 {
			return value{}, errors.New("takes an array of time series")
		}
		l := a[0].list[0]
		if at < 0 {
			l = a[0].list[len(a[0].list)-1]
		}
		return ofSeries(l.Label, l.Values), nil
	}
}

// slice implements SLICE(array, from) and SLICE(array, from, to).
func slice(_ *evaluator, a []value) (value, error) {
	if len(a) < 2 || len(a) > 3 || a[0].kind != list || a[1].kind != number || len(a) == 3 && a[2].kind != number {
		return value{}, errors.New("takes an array of time series and one or two indices")
	}
	all := a[0].list
	from, to := int(a[1].number), len(all)
	if len(a) == 3 {
		to = min(to, int(a[2].number))
	}
	if from < 0 || from > to {
		return value{kind: list}, nil
	}
	return value{kind: list, list: all[from:to]}, nil
}

// sorted implements SORT(array, SUM|AVG|MIN|MAX, ASC|DESC, limit).
func sorted(_ *evaluator, a []value) (value, error) {
	by := map[string]func([]float64) float64{"SUM": sumOf, "AVG": average, "MIN": least, "MAX": greatest}
	if len(a) < 3 || len(a) > 4 || a[0].kind != list || by[a[1].text] == nil ||
		a[2].text != "ASC" && a[2].text != "DESC" || len(a) == 4 && a[3].kind != number {
		return value{}, errors.New("takes an array of time series, SUM, AVG, MIN or MAX, ASC or DESC, and how many")
	}
	all := slices.Clone(a[0].list)
	slices.SortStableFunc(all, func(x, y Labelled) int {
		order := cmp.Compare(by[a[1].text](present(x.Values)), by[a[1].text](present(y.Values)))
		if a[2].text == "DESC" {
			return -order
		}
		return order
	})
	if len(a) == 4 {
		all = all[:max(0, min(len(all), int(a[3].number)))]
	}
	return value{kind: list, list: all}, nil
}

func removeEmpty(_ *evaluator, a []value) (value, error) {
	if len(a) != 1 || a[0].kind != list {
		return value{}, errors.New("takes an array of time series")
	}
	made := value{kind: list}
	for _, l := range a[0].list {
		if len(present(l.Values)) > 0 {
			made.list = append(made.list, l)
		}
	}
	return made, nil
}

func timeSeries(e *evaluator, a []value) (value, error) {
	if len(a) != 1 || a[0].kind == text || a[0].kind == list {
		return value{}, errOne
	}
	if a[0].kind == series {
		return a[0], nil
	}
	return ofSeries("", e.grid.constant(a[0].number)), nil
}

func calendar(part func(time.Time) int) function {
	return func(e *evaluator, a []value) (value, error) {
		if len(a) != 1 || a[0].kind != series {
			return value{}, errors.New("takes one time series")
		}
		made := make(Series, e.grid.Len)
		for i := range made {
			made[i] = float64(part(e.grid.At(i).UTC()))
		}
		return ofSeries(a[0].list[0].Label, made), nil
	}
}

// search implements SEARCH('query', 'statistic', period).
func search(e *evaluator, a []value) (value, error) {
	if len(a) < 2 || len(a) > 3 || a[0].kind != text || a[1].kind != text || len(a) == 3 && a[2].kind != number {
		return value{}, errors.New("takes a query, a statistic and a period in seconds")
	}
	period := e.grid.Period
	if len(a) == 3 {
		period = time.Duration(a[2].number) * time.Second
	}
	all, err := e.terms.Search(strings.TrimSpace(a[0].text), a[1].text, period)
	if err != nil {
		return value{}, fmt.Errorf("%q: %w", a[0].text, err)
	}
	return value{kind: list, list: all}, nil
}
