package jsonata

import (
	"math"
	"strconv"
	"strings"
	"time"

	"stepback/internal/lazyregexp"
)

var dateFunctions = map[string]*native{
	"now": define("<s?s?:s>", 2, func(c *call, args []value) (value, *Error) {
		return dateText(c, float64(c.ev.now().UnixMilli()), argument(args, 0), argument(args, 1))
	}),
	"millis": define("<:n>", 0, func(c *call, _ []value) (value, *Error) {
		return float64(c.ev.now().UnixMilli()),
			nil
	}),
	"fromMillis": define("<n-s?s?:s>", 3, func(c *call, args []value) (value, *Error) {
		if argument(args, 0) == nil {
			return nil, nil
		}
		return dateText(c, numberOf(args[0]), argument(args, 1), argument(args, 2))
	}),
	"toMillis": define("<s-s?:n>", 2, toMillis),
}

func dateText(c *call, millis float64, picture, offset value) (value, *Error) {
	parts := isoDate
	if text, ok := picture.(string); ok {
		err := c.ev.budget.spendPicture(len(text))
		if err != nil {
			return nil, err
		}
		if parts, err = parseDatePicture(text); err != nil {
			return nil, err
		}
	}
	var z zone
	if text, ok := offset.(string); ok {
		z = parseZone(text)
	}
	s, err := formatDate(millis, parts, z)
	return s, err
}

var isoTimestamp = lazyregexp.New(`^\d{4}(-[01]\d)*(-[0-3]\d)*(T[0-2]\d:[0-5]\d:[0-5]\d)*(\.\d+)?([+-][0-2]\d:?[0-5]\d|Z)?$`)

func toMillis(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	text := textOf(args[0])
	picture, ok := argument(args, 1).(string)
	if !ok {
		if !isoTimestamp.MatchString(text) {
			return nil, raise("D3110", text)
		}
		return parseTimestamp(text), nil
	}
	if err := c.ev.budget.spendPicture(len(picture)); err != nil {
		return nil, err
	}
	parts, err := parseDatePicture(picture)
	if err != nil {
		return nil, err
	}
	millis, found, err := parseDate(text, parts, c.ev)
	if err != nil || !found {
		return nil, err
	}
	return millis, nil
}

var timestampParts = lazyregexp.New(
	`^(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([+-])(\d\d):?(\d\d))?)?Z?$`)

// parseTimestamp implements JavaScript's Date.parse for the texts that isoTimestamp accepts, in a process whose local
// time is UTC. It returns NaN for texts that Date.parse rejects.
func parseTimestamp(text string) float64 {
	m := timestampParts.FindStringSubmatch(text)
	if m == nil {
		return math.NaN()
	}
	number := func(i, missing int) int {
		n, err := strconv.Atoi(m[i])
		if err != nil {
			return missing
		}
		return n
	}
	month, dayOfMonth, hour := number(2, 1), number(3, 1), number(4, 0)
	midnight := hour == 24 && number(5, 0) == 0 && number(6, 0) == 0
	if month < 1 || month > 12 || dayOfMonth < 1 || dayOfMonth > 31 || hour > 23 && !midnight || number(9, 0) > 23 {
		return math.NaN()
	}
	t := time.Date(number(1, 0), time.Month(month), dayOfMonth, hour, number(5, 0), number(6, 0), 0, time.UTC)
	fraction, _ := strconv.Atoi((m[7] + strings.Repeat("0", 3))[:3])
	millis := t.UnixMilli() + int64(fraction)
	offset := int64(number(9, 0)*60+number(10, 0)) * 60 * 1000
	if m[8] == "-" {
		offset = -offset
	}
	return float64(millis - offset)
}
