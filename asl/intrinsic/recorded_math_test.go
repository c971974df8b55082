package intrinsic_test

// recordedMath contains calls recorded at the real service, in the order of the recordings.
var recordedMath = []recording{
	{`States.MathAdd($.FunctionInput.fst, $.FunctionInput.snd)`, [][2]string{
		{`{"FunctionInput":{"fst":-9,"snd":3}}`, `-6`},
		{`{"FunctionInput":{"fst":1.49,"snd":1.5}}`, `3`},
		{`{"FunctionInput":{"fst":1.5,"snd":1.51}}`, `4`},
		{`{"FunctionInput":{"fst":-1.49,"snd":-1.5}}`, `-2`},
		{`{"FunctionInput":{"fst":-1.5,"snd":-1.51}}`, `-3`},
		{`{"FunctionInput":{"fst":1.49,"snd":0}}`, `1`},
		{`{"FunctionInput":{"fst":1.49,"snd":-1.49}}`, `0`},
		{`{"FunctionInput":{"fst":1.5,"snd":0}}`, `2`},
		{`{"FunctionInput":{"fst":1.51,"snd":0}}`, `2`},
		{`{"FunctionInput":{"fst":-1.49,"snd":0}}`, `-1`},
		{`{"FunctionInput":{"fst":-1.5,"snd":0}}`, `-1`},
		{`{"FunctionInput":{"fst":-1.51,"snd":0}}`, `-2`},
		{`{"FunctionInput":{"fst":0.5,"snd":0}}`, `1`},
		{`{"FunctionInput":{"fst":1.5,"snd":0}}`, `2`},
		{`{"FunctionInput":{"fst":2.5,"snd":0}}`, `3`},
		{`{"FunctionInput":{"fst":3.5,"snd":0}}`, `4`},
		{`{"FunctionInput":{"fst":-0.5,"snd":0.5}}`, `1`},
		{`{"FunctionInput":{"fst":-0.5,"snd":0}}`, `0`},
		{`{"FunctionInput":{"fst":-1.5,"snd":0}}`, `-1`},
		{`{"FunctionInput":{"fst":-2.5,"snd":0}}`, `-2`},
		{`{"FunctionInput":{"fst":-3.5,"snd":0}}`, `-3`},
	}},
}
