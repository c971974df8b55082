package parquetrows

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"stepback/jsonvalue"
)

// decoder converts a non-null value of a leaf column to JSON.
type decoder func(parquet.Value) (jsonvalue.Value, error)

// newDecoder returns the decoder for the type of a column: its logical type, in older files its converted type,
// otherwise its physical type.
func newDecoder(e *format.SchemaElement) decoder {
	if d := logicalDecoder(e); d != nil {
		return d
	}
	if e.ConvertedType.Valid {
		if d := convertedDecoder(e); d != nil {
			return d
		}
	}
	return physical
}

func logicalDecoder(e *format.SchemaElement) decoder {
	switch t := e.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return text
	case *format.BsonType:
		return encoded
	case *format.UUIDType:
		return uniqueID
	case *format.Float16Type:
		return halfFloat
	case *format.DecimalType:
		return decimal(int(t.Scale))
	case *format.DateType:
		return date
	case *format.TimeType:
		if t.Unit.Value != nil {
			return timeOfDay(t.Unit.Value.Duration())
		}
	case *format.TimestampType:
		if t.Unit.Value != nil {
			return timestamp(t.Unit.Value.Duration(), t.IsAdjustedToUTC)
		}
	case *format.IntType:
		if !t.IsSigned {
			return unsigned
		}
	}
	return nil
}

func convertedDecoder(e *format.SchemaElement) decoder {
	switch e.ConvertedType.V {
	case deprecated.UTF8, deprecated.Enum, deprecated.Json:
		return text
	case deprecated.Bson, deprecated.Interval:
		return encoded
	case deprecated.Decimal:
		return decimal(int(e.Scale.V))
	case deprecated.Date:
		return date
	case deprecated.TimeMillis:
		return timeOfDay(millis)
	case deprecated.TimeMicros:
		return timeOfDay(micros)
	case deprecated.TimestampMillis:
		return timestamp(millis, true)
	case deprecated.TimestampMicros:
		return timestamp(micros, true)
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return unsigned
	default:
		return nil
	}
}

// physical decodes a value by its physical type.
func physical(v parquet.Value) (jsonvalue.Value, error) {
	switch v.Kind() {
	case parquet.Boolean:
		return jsonvalue.OfBool(v.Boolean()), nil
	case parquet.Int32:
		return jsonvalue.OfInt(int64(v.Int32())), nil
	case parquet.Int64:
		return jsonvalue.OfInt(v.Int64()), nil
	case parquet.Int96:
		return int96(v)
	case parquet.Float:
		return single(v.Float()), nil
	case parquet.Double:
		return jsonvalue.OfFloat(v.Double()), nil
	default:
		if b := v.ByteArray(); utf8.Valid(b) {
			return jsonvalue.OfString(string(b)), nil
		}
		return encoded(v)
	}
}

// single returns a 32-bit float with as many digits as distinguish it from its neighbours.
func single(f float32) jsonvalue.Value {
	short, err := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	if err != nil {
		return jsonvalue.Value{}
	}
	return jsonvalue.OfFloat(short)
}

func text(v parquet.Value) (jsonvalue.Value, error) {
	b, err := bytesOf(v)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	if !utf8.Valid(b) {
		return jsonvalue.Value{}, errors.New("a string is not UTF-8")
	}
	return jsonvalue.OfString(string(b)), nil
}

func encoded(v parquet.Value) (jsonvalue.Value, error) {
	b, err := bytesOf(v)
	return jsonvalue.OfString(base64.StdEncoding.EncodeToString(b)), err
}

func uniqueID(v parquet.Value) (jsonvalue.Value, error) {
	b, err := bytesOf(v)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	id, err := uuid.FromBytes(b)
	return jsonvalue.OfString(id.String()), err
}

// unsigned decodes an unsigned integer, which is stored in a signed one.
func unsigned(v parquet.Value) (jsonvalue.Value, error) {
	switch v.Kind() {
	case parquet.Int32:
		return jsonvalue.OfInt(int64(v.Uint32())), nil
	case parquet.Int64:
		return jsonvalue.OfNumberText(strconv.FormatUint(v.Uint64(), 10)), nil
	default:
		return jsonvalue.Value{}, errStored(v)
	}
}

func halfFloat(v parquet.Value) (jsonvalue.Value, error) {
	b, err := bytesOf(v)
	if err != nil || len(b) != 2 {
		return jsonvalue.Value{}, errStored(v)
	}
	bits := binary.LittleEndian.Uint16(b)
	exponent, fraction := int(bits>>10&0x1F), float64(bits&0x3FF)
	var f float64
	switch exponent {
	case 0x1F:
		return jsonvalue.Value{}, nil // infinite or NaN
	case 0:
		f = math.Ldexp(fraction, -24)
	default:
		f = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits&0x8000 != 0 {
		f = -f
	}
	return single(float32(f)), nil
}

// integerOf returns a value stored as an integer.
func integerOf(v parquet.Value) (int64, error) {
	switch v.Kind() {
	case parquet.Int32:
		return int64(v.Int32()), nil
	case parquet.Int64:
		return v.Int64(), nil
	default:
		return 0, errStored(v)
	}
}

// bytesOf returns a value stored as bytes. The slice belongs to the row.
func bytesOf(v parquet.Value) ([]byte, error) {
	switch v.Kind() {
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return v.ByteArray(), nil
	default:
		return nil, errStored(v)
	}
}

func errStored(v parquet.Value) error {
	return fmt.Errorf("the schema is damaged: a value of this type cannot be stored as %v", v.Kind())
}
