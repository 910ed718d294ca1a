use super::minify;

fn check(text: &str, expected: &str) {
    assert_eq!(minify(text), expected, "{text}");
    assert_eq!(minify(expected), expected, "a second pass changes {expected}");
}

#[test]
fn white_space_and_comments_go() {
    check(
        "/* one */\n.a ,\n.b {\n  color : red; /* two */\n  margin: 0 auto;\n}\n",
        ".a,.b{color :red;margin:0 auto}",
    );
    check("@layer reset, base ;\n\n", "@layer reset,base;");
    check(
        "@media (width >= 40rem) and (hover) {\n a { b: c }\n}",
        "@media (width >= 40rem) and (hover){a{b:c}}",
    );
    check("/*/ still a comment */a{}", "a{}");
}

#[test]
fn selectors_keep_their_combinators() {
    check("a :hover{}", "a :hover{}");
    check("a:hover > b + c ~ d{}", "a:hover > b + c ~ d{}");
    check("a { & .b { c: d } &:hover { e: f } }", "a{& .b{c:d}&:hover{e:f}}");
    check("li:nth-child( 2n + 1 ){}", "li:nth-child( 2n + 1 ){}");
    check(r"a\31  .b , .sm\:c {}", r"a\31  .b,.sm\:c{}");
}

#[test]
fn values_keep_their_operators() {
    check("a { width: calc( 100% - ( 2rem + 1px ) ) }", "a{width:calc( 100% - ( 2rem + 1px ) )}");
    check("a { inset: max( 1px , env( x ) ) }", "a{inset:max( 1px,env( x ) )}");
}

#[test]
fn strings_and_addresses_stay_as_they_are() {
    check(
        r#"a::after { content: "a ;  /* b */ } \"  c" }"#,
        r#"a::after{content:"a ;  /* b */ } \"  c"}"#,
    );
    check("a { b: url( data:x;y ,  /*z*/ ) c }", "a{b:url( data:x;y ,  /*z*/ ) c}");
    check("a { b: url( 'x ;  y' ) }", "a{b:url( 'x ;  y' )}");
}

#[test]
fn custom_properties_keep_their_tokens() {
    check(":root { --gap:  1px ,  2px ; }", ":root{--gap:1px , 2px}");
    check("a { --none: ; --other:; b: c }", "a{--none: ;--other: ;b:c}");
    check("a { --map : { b: c; d: e } ; f: g }", "a{--map:{ b: c; d: e };f:g}");
    check("a { --x: 1 } b { c: var(--x, 2) }", "a{--x:1}b{c:var(--x,2)}");
}

#[test]
fn a_comment_between_two_words_still_parts_them() {
    check("a{b:1px/* x */2px}", "a{b:1px/**/2px}");
    check("a /* x */ .b{}", "a .b{}");
    check("a/* x */:hover{}", "a:hover{}");
}
