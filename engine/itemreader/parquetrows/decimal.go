package parquetrows

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"stepback/jsonvalue"
)

// maxScale is larger than the scale of any writer: 38 digits are the usual limit.
const maxScale = 1000

// decimal returns the decoder for decimals with scale digits after the point. They are stored as the integer of all
// their digits; in bytes, as a big-endian two's complement.
func decimal(scale int) decoder {
	return func(v parquet.Value) (jsonvalue.Value, error) {
		if scale < 0 || scale > maxScale {
			return jsonvalue.Value{}, fmt.Errorf("a decimal cannot have a scale of %d", scale)
		}
		digits, err := unscaled(v)
		if err != nil {
			return jsonvalue.Value{}, err
		}
		return jsonvalue.OfNumberText(withPoint(digits, scale)), nil
	}
}

func unscaled(v parquet.Value) (string, error) {
	if i, err := integerOf(v); err == nil {
		return strconv.FormatInt(i, 10), nil
	}
	b, err := bytesOf(v)
	if err != nil {
		return "", err
	}
	i := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		i.Sub(i, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return i.String(), nil
}

func withPoint(digits string, scale int) string {
	if scale == 0 {
		return digits
	}
	digits, negative := strings.CutPrefix(digits, "-")
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	at := len(digits) - scale
	digits = digits[:at] + "." + digits[at:]
	if negative {
		return "-" + digits
	}
	return digits
}
