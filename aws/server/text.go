package server

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"stepback/aws/model"
	"stepback/jsonvalue"
)

// fromText converts a scalar in text form, as in forms, XML, headers and URLs, to a document. A time is parsed in
// its shape's format, or else in the given one; if both are empty, any format is accepted.
func fromText(s *model.Shape, text string, format model.TimestampFormat) (jsonvalue.Value, error) {
	switch s.Type {
	case model.Boolean:
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true", "1":
			return jsonvalue.OfBool(true), nil
		case "false", "0":
			return jsonvalue.OfBool(false), nil
		}
		return jsonvalue.Value{}, malformed("'" + text + "' can not be converted to a Boolean")
	case model.Integer, model.Long:
		bits := 64
		if s.Type == model.Integer {
			bits = 32
		}
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, bits)
		if err != nil {
			return jsonvalue.Value{}, malformed("'" + text + "' can not be converted to an Integer")
		}
		return jsonvalue.OfInt(n), nil
	case model.Float, model.Double:
		return floatFrom(strings.TrimSpace(text))
	case model.Timestamp:
		if s.TimestampFormat != "" {
			format = s.TimestampFormat
		}
		return timeFrom(strings.TrimSpace(text), format)
	case model.Blob:
		if _, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text)); err != nil {
			return jsonvalue.Value{}, malformed("'" + text + "' can not be converted to bytes: it is not Base64")
		}
		return jsonvalue.OfString(strings.TrimSpace(text)), nil
	default:
		return jsonvalue.OfString(text), nil
	}
}

func floatFrom(text string) (jsonvalue.Value, error) {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "NaN" || text == "Infinity" || text == "-Infinity":
		return jsonvalue.OfString(text), nil
	case err != nil || math.IsNaN(f) || math.IsInf(f, 0):
		return jsonvalue.Value{}, malformed("'" + text + "' can not be converted to a number")
	}
	return jsonvalue.OfNumberText(strconv.FormatFloat(f, 'g', -1, 64)), nil
}

// toText converts a scalar to text. A time is written in its shape's format, or else in the given one.
func toText(s *model.Shape, v jsonvalue.Value, format model.TimestampFormat) string {
	switch {
	case s.Type == model.Timestamp:
		if s.TimestampFormat != "" {
			format = s.TimestampFormat
		}
		if t, err := model.TimeOf(v); err == nil {
			return timeText(t, format)
		}
	case v.Kind() == jsonvalue.Bool:
		return strconv.FormatBool(v.Bool())
	}
	return v.Text()
}
