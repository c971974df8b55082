package httptask

import (
	"net/url"
	"strconv"
	"strings"

	"stepback/jsonvalue"
)

// The values of RequestBodyEncoding and of ArrayFormat.
const (
	encodeNone = "NONE"
	encodeURL  = "URL_ENCODED"

	arraysIndexed  = "INDICES"  // a[0]=x&a[1]=y
	arraysRepeated = "REPEAT"   // a=x&a=y
	arraysCommas   = "COMMAS"   // a=x,y
	arraysBrackets = "BRACKETS" // a[]=x&a[]=y
)

// formEncoded encodes a value as a form. Members of objects are named by their paths: a[b]=x.
func formEncoded(v jsonvalue.Value, arrays string) string {
	f := form{arrays: arrays}
	for i, key := range v.Keys() {
		f.value(key, v.At(i))
	}
	return strings.Join(f.pairs, "&")
}

type form struct {
	arrays string
	pairs  []string
}

func (f *form) value(name string, v jsonvalue.Value) {
	switch v.Kind() {
	case jsonvalue.Object:
		for i, key := range v.Keys() {
			f.value(name+"["+key+"]", v.At(i))
		}
	case jsonvalue.Array:
		f.array(name, v.Elements())
	default:
		text, _ := scalar(v)
		f.pair(name, text)
	}
}

func (f *form) array(name string, elements []jsonvalue.Value) {
	if f.arrays == arraysCommas {
		texts := make([]string, len(elements))
		for i, e := range elements {
			text, ok := scalar(e)
			if !ok {
				text = e.JSON()
			}
			texts[i] = text
		}
		f.pair(name, strings.Join(texts, ","))
		return
	}
	for i, e := range elements {
		switch f.arrays {
		case arraysRepeated:
			f.value(name, e)
		case arraysBrackets:
			f.value(name+"[]", e)
		default:
			f.value(name+"["+strconv.Itoa(i)+"]", e)
		}
	}
}

func (f *form) pair(name, value string) {
	f.pairs = append(f.pairs, url.QueryEscape(name)+"="+url.QueryEscape(value))
}
