package intrinsic_test

// recordedText contains calls recorded at the real service, in the order of the recordings.
var recordedText = []recording{
	{`States.Base64Decode($.FunctionInput)`, [][2]string{
		{`{"FunctionInput":""}`, `""`},
		{`{"FunctionInput":"RGF0YSB0byBlbmNvZGU="}`, `"Data to encode"`},
	}},
	{`States.Base64Encode($.FunctionInput)`, [][2]string{
		{`{"FunctionInput":""}`, `""`},
		{`{"FunctionInput":"Data to encode"}`, `"RGF0YSB0byBlbmNvZGU="`},
	}},
	{`States.Format('Formatting arguments fst={} and snd={}.', $$.Execution.Name, $$.StateMachine)`, [][2]string{
		{`{"FunctionInput":null}`, `"Formatting arguments fst=run-1 and snd={Id=arn:aws:states:us-east-1:123456789012:stateMachine:orders, Name=orders}."`},
	}},
	{"States.StringSplit('Hello\nWorld', '\n')", [][2]string{
		{`{"FunctionInput":null}`, `["Hello","World"]`},
	}},
	{`States.Format('Formatting argument {}.', $.FunctionInput)`, [][2]string{
		{`{"FunctionInput":""}`, `"Formatting argument ."`},
		{`{"FunctionInput":" "}`, `"Formatting argument  ."`},
		{`{"FunctionInput":"HelloWorld"}`, `"Formatting argument HelloWorld."`},
		{`{"FunctionInput":null}`, `"Formatting argument null."`},
		{`{"FunctionInput":1}`, `"Formatting argument 1."`},
		{`{"FunctionInput":1.1}`, `"Formatting argument 1.1."`},
		{`{"FunctionInput":"{\"Arg1\": 1, \"Arg2\": []}"}`, `"Formatting argument {\"Arg1\": 1, \"Arg2\": []}."`},
	}},
	{`States.Format('Formatting arguments fst={} and snd={}.', $.FunctionInput.fst, $.FunctionInput.snd)`, [][2]string{
		{`{"FunctionInput":{"fst":"","snd":""}}`, `"Formatting arguments fst= and snd=."`},
		{`{"FunctionInput":{"fst":" ","snd":" "}}`, `"Formatting arguments fst=  and snd= ."`},
		{`{"FunctionInput":{"fst":"HelloWorld","snd":"HelloWorld"}}`,
			`"Formatting arguments fst=HelloWorld and snd=HelloWorld."`},
		{`{"FunctionInput":{"fst":null,"snd":null}}`, `"Formatting arguments fst=null and snd=null."`},
		{`{"FunctionInput":{"fst":1,"snd":1}}`, `"Formatting arguments fst=1 and snd=1."`},
		{`{"FunctionInput":{"fst":1.1,"snd":1.1}}`, `"Formatting arguments fst=1.1 and snd=1.1."`},
		{`{"FunctionInput":{"fst":"{\"Arg1\": 1, \"Arg2\": []}","snd":"{\"Arg1\": 1, \"Arg2\": []}"}}`,
			`"Formatting arguments fst={\"Arg1\": 1, \"Arg2\": []} and snd={\"Arg1\": 1, \"Arg2\": []}."`},
		{`{"FunctionInput":{"fst":{"Arg1":1,"Arg2":[]},"snd":{"Arg1":1,"Arg2":[]}}}`,
			`"Formatting arguments fst={Arg1=1, Arg2=[]} and snd={Arg1=1, Arg2=[]}."`},
	}},
	{`States.ArrayGetItem(States.StringSplit($$.StateMachine.Name, '-'), 0)`, [][2]string{
		{`{"FunctionInput":null}`, `"orders"`},
	}},
	{`States.Hash($.FunctionInput.fst, $.FunctionInput.snd)`, [][2]string{
		{`{"FunctionInput":{"fst":"input data","snd":"MD5"}}`, `"812f45842bc6d66ee14572ce20db8e86"`},
		{`{"FunctionInput":{"fst":"input data","snd":"SHA-1"}}`, `"aaff4a450a104cd177d28d18d74485e8cae074b7"`},
		{`{"FunctionInput":{"fst":"input data","snd":"SHA-256"}}`,
			`"b4a697a057313163aee33cd8d40c66e9f0f177e00cac2de32475ffff6169c3e3"`},
		{`{"FunctionInput":{"fst":"input data","snd":"SHA-384"}}`,
			`"d28a7d5cf25a74f11a50a18452b75e04bb3d70c9dd0510d6123aa008c756511b87525bdc835ebb27e1fb9e9374a15562"`},
		{`{"FunctionInput":{"fst":"input data","snd":"SHA-512"}}`,
			`"6ce4adb348546d4f449c4d25aad9a7c9cb711d9e91982d3f0b29ca2f3f47d4ce2deba23bf2954f0f1d593fc50283731a533d30d425402d4f91316d871303aac4"`},
	}},
	{`States.JsonMerge(States.StringToJson('{"constant_in_literal": "false"}'), $$.Execution.Input.input_field, false)`,
		[][2]string{
			{`{"input_field":{"constant_input_field":"constant_value"}}`,
				`{"constant_input_field":"constant_value","constant_in_literal":"false"}`},
		}},
	{`States.JsonToString($.FunctionInput)`, [][2]string{
		{`{"FunctionInput":null}`, `"null"`},
		{`{"FunctionInput":0}`, `"0"`},
		{`{"FunctionInput":1}`, `"1"`},
		{`{"FunctionInput":1.1}`, `"1.1"`},
		{`{"FunctionInput":true}`, `"true"`},
		{`{"FunctionInput":"HelloWorld"}`, `"\"HelloWorld\""`},
		{`{"FunctionInput":[1,2,"HelloWorld"]}`, `"[1,2,\"HelloWorld\"]"`},
		{`{"FunctionInput":{"Arg1":1,"Arg2":[]}}`, `"{\"Arg1\":1,\"Arg2\":[]}"`},
	}},
	{`States.StringToJson($.FunctionInput)`, [][2]string{
		{`{"FunctionInput":""}`, `null`},
		{`{"FunctionInput":" "}`, `null`},
		{`{"FunctionInput":"null"}`, `null`},
		{`{"FunctionInput":"-0"}`, `0`},
		{`{"FunctionInput":"1"}`, `1`},
		{`{"FunctionInput":"1.1"}`, `1.1`},
		{`{"FunctionInput":"true"}`, `true`},
		{`{"FunctionInput":"\"HelloWorld\""}`, `"HelloWorld"`},
		{`{"FunctionInput":"[1, 2, \"HelloWorld\"]"}`, `[1,2,"HelloWorld"]`},
		{`{"FunctionInput":"{\"Arg1\": 1, \"Arg2\": []}"}`, `{"Arg1":1,"Arg2":[]}`},
	}},
	{`States.StringSplit($.FunctionInput.fst, $.FunctionInput.snd)`, [][2]string{
		{`{"FunctionInput":{"fst":" ","snd":","}}`, `[" "]`},
		{`{"FunctionInput":{"fst":" , ","snd":","}}`, `[" "," "]`},
		{`{"FunctionInput":{"fst":", , ,","snd":","}}`, `[" "," "]`},
		{`{"FunctionInput":{"fst":",,,,","snd":","}}`, `[]`},
		{`{"FunctionInput":{"fst":"1,2,3,4,5","snd":","}}`, `["1","2","3","4","5"]`},
		{`{"FunctionInput":{"fst":"This.is+a,test=string","snd":".+,="}}`, `["This","is","a","test","string"]`},
		{`{"FunctionInput":{"fst":"split on T and \nnew line","snd":"T\n"}}`, `["split on "," and ","new line"]`},
	}},
	{`States.StringSplit($$.Execution.Input.FunctionInput, ',')`, [][2]string{
		{`{"FunctionInput":"Value1,Value2,Value3\nValue4,Value5,Value6\n,,,\ntrue,1,'HelloWorld'\nNull,None,\n   \n"}`,
			`["Value1","Value2","Value3\nValue4","Value5","Value6\n","\ntrue","1","'HelloWorld'\nNull","None","\n   \n"]`},
	}},
}
