package awssdk

import (
	"encoding/base64"
	"strconv"
	"time"
	"unicode/utf8"

	"stepback/aws/model"
	"stepback/jsonvalue"
	"stepback/tasks/awssdk/responses"
)

// style determines the form of results: the form of AWS SDK integrations or that of optimized integrations.
type style struct {
	names *responses.Naming
	time  func(time.Time) jsonvalue.Value
}

var (
	sdkStyle       = &style{names: responses.SDK, time: instant}
	optimizedStyle = &style{names: responses.Optimized, time: epochMillis}
)

// instant formats a time like Java's Instant: with three decimals, or with none for a whole second.
func instant(t time.Time) jsonvalue.Value {
	layout := "2006-01-02T15:04:05.000Z"
	if t.Nanosecond() < int(time.Millisecond) {
		layout = "2006-01-02T15:04:05Z"
	}
	return jsonvalue.OfString(t.UTC().Format(layout))
}

func epochMillis(t time.Time) jsonvalue.Value {
	return jsonvalue.OfNumberText(strconv.FormatInt(t.UnixMilli(), 10))
}

// results converts the output of an operation to the result of a task.
type results struct {
	service *service
	style   *style
}

// object converts a structure.
func (r *results) object(s *model.Shape, v jsonvalue.Value) jsonvalue.Value {
	b := jsonvalue.NewObject(v.Len())
	for i, key := range v.Keys() {
		if m := s.Member(key); m != nil {
			b.Set(r.style.names.Member(m), r.value(m.Shape, v.At(i)))
		}
	}
	return b.Value()
}

// with returns the converted structure with the streamed member inserted at its position.
func (r *results) with(s *model.Shape, v, stream jsonvalue.Value) jsonvalue.Value {
	b := jsonvalue.NewObject(v.Len() + 1)
	for _, m := range s.Listed() {
		name := r.style.names.Member(m)
		if m == s.Streamed() {
			b.Set(name, stream)
		} else if e, ok := v.Get(name); ok {
			b.Set(name, e)
		}
	}
	return b.Value()
}

func (r *results) value(s *model.Shape, v jsonvalue.Value) jsonvalue.Value {
	switch {
	case v.IsNull():
		return v
	case s.Type == model.Structure:
		return r.object(s, v)
	case s.Type == model.List:
		elements := make([]jsonvalue.Value, v.Len())
		for i, e := range v.Elements() {
			elements[i] = r.value(s.Element.Shape, e)
		}
		return jsonvalue.OfArray(elements)
	case s.Type == model.Map:
		b := jsonvalue.NewObject(v.Len())
		for i, key := range v.Keys() {
			b.Set(key, r.value(s.Element.Shape, v.At(i)))
		}
		return b.Value()
	case s.Type == model.Timestamp:
		t, err := model.TimeOf(v)
		if err != nil {
			return v
		}
		return r.style.time(t)
	case s.Type == model.Blob:
		return r.blob(v)
	default:
		return v
	}
}

// blob converts bytes to text if they are valid text, and otherwise to Base64. DynamoDB's bytes are always
// converted to Base64.
func (r *results) blob(v jsonvalue.Value) jsonvalue.Value {
	if r.service.base64 {
		return v
	}
	b, err := base64.StdEncoding.DecodeString(v.Text())
	if err != nil || !utf8.Valid(b) {
		return v
	}
	return jsonvalue.OfString(string(b))
}
