package parquetrows

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/parquet-go/parquet-go"

	"stepback/jsonvalue"
)

// The units of times and timestamps in older files.
const (
	millis = time.Millisecond
	micros = time.Microsecond
)

const (
	dateLayout  = "2006-01-02"
	clockLayout = "15:04:05.999999999"
	secondsADay = 24 * 60 * 60
	// julianEpoch is the Julian day number of 1 January 1970.
	julianEpoch = 2_440_588
)

// date decodes days since 1970.
func date(v parquet.Value) (jsonvalue.Value, error) {
	days, err := integerOf(v)
	return jsonvalue.OfString(time.Unix(days*secondsADay, 0).UTC().Format(dateLayout)), err
}

// timeOfDay returns the decoder for times since midnight in a unit.
func timeOfDay(unit time.Duration) decoder {
	return func(v parquet.Value) (jsonvalue.Value, error) {
		count, err := integerOf(v)
		if err == nil && (count < 0 || count >= int64(24*time.Hour/unit)) {
			err = errors.New("a time of day is not within a day")
		}
		return jsonvalue.OfString(since1970(count, unit).Format(clockLayout)), err
	}
}

// timestamp returns the decoder for times since 1970 in a unit, in UTC or, without a Z, in no particular zone.
func timestamp(unit time.Duration, utc bool) decoder {
	layout := dateLayout + "T" + clockLayout
	if utc {
		layout += "Z"
	}
	return func(v parquet.Value) (jsonvalue.Value, error) {
		if v.Kind() == parquet.Int96 {
			return int96(v)
		}
		count, err := integerOf(v)
		return jsonvalue.OfString(since1970(count, unit).Format(layout)), err
	}
}

func since1970(count int64, unit time.Duration) time.Time {
	perSecond := int64(time.Second / unit)
	seconds, rest := count/perSecond, count%perSecond
	return time.Unix(seconds, rest*int64(unit)).UTC()
}

// int96 decodes a timestamp as written by Hive, Impala and Athena: nanoseconds of the day, then the Julian day.
func int96(v parquet.Value) (jsonvalue.Value, error) {
	words := v.Int96()
	var b [8]byte
	binary.LittleEndian.PutUint32(b[:], words[0])
	binary.LittleEndian.PutUint32(b[4:], words[1])
	nanos := int64(binary.LittleEndian.Uint64(b[:]))
	days := int64(int32(words[2])) - julianEpoch
	at := time.Unix(days*secondsADay, 0).UTC().Add(time.Duration(nanos))
	return jsonvalue.OfString(at.Format(dateLayout + "T" + clockLayout + "Z")), nil
}
