// GENERATED from emails/ by `npm run generate`. DO NOT EDIT.
// Contains react, react-dom, react-email.
// @ts-self-types="./emails.d.ts"
var gu=Object.create;var Pl=Object.defineProperty;var vu=Object.getOwnPropertyDescriptor;var pu=Object.getOwnPropertyNames;var yu=Object.getPrototypeOf,bu=Object.prototype.hasOwnProperty;var wn=(e,n)=>()=>{try{return n||e((n={exports:{}}).exports,n),n.exports}catch(t){throw n=0,t}};var mu=(e,n,t,r)=>{if(n&&typeof n=="object"||typeof n=="function")for(let i of pu(n))!bu.call(e,i)&&i!==t&&Pl(e,i,{get:()=>n[i],
enumerable:!(r=vu(n,i))||r.enumerable});return e};var p=(e,n,t)=>(t=e!=null?gu(yu(e)):{},mu(n||!e||!e.__esModule?Pl(t,"default",{value:e,enumerable:!0}):t,e));var Fl=wn(y=>{"use strict";var oi=Symbol.for("react.transitional.element"),Tu=Symbol.for("react.portal"),wu=Symbol.for("\
react.fragment"),Pu=Symbol.for("react.strict_mode"),Eu=Symbol.for("react.profiler"),Ru=Symbol.for("react.consumer"),xu=Symbol.
for("react.context"),Cu=Symbol.for("react.forward_ref"),Au=Symbol.for("react.suspense"),Nu=Symbol.for("react.memo"),Al=Symbol.
for("react.lazy"),Su=Symbol.for("react.activity"),_u=Symbol.for("react.view_transition"),El=Symbol.iterator;function ku(e){
return e===null||typeof e!="object"?null:(e=El&&e[El]||e["@@iterator"],typeof e=="function"?e:null)}var Nl={isMounted:function(){
return!1},enqueueForceUpdate:function(){},enqueueReplaceState:function(){},enqueueSetState:function(){}},Sl=Object.assign,
_l={};function Vn(e,n,t){this.props=e,this.context=n,this.refs=_l,this.updater=t||Nl}Vn.prototype.isReactComponent={};Vn.
prototype.setState=function(e,n){if(typeof e!="object"&&typeof e!="function"&&e!=null)throw Error("takes an object of st\
ate variables to update or a function which returns an object of state variables.");this.updater.enqueueSetState(this,e,
n,"setState")};Vn.prototype.forceUpdate=function(e){this.updater.enqueueForceUpdate(this,e,"forceUpdate")};function kl(){}
kl.prototype=Vn.prototype;function ui(e,n,t){this.props=e,this.context=n,this.refs=_l,this.updater=t||Nl}var ci=ui.prototype=
new kl;ci.constructor=ui;Sl(ci,Vn.prototype);ci.isPureReactComponent=!0;var Rl=Array.isArray;function ai(){}var k={H:null,
A:null,T:null,S:null},Ol=Object.prototype.hasOwnProperty;function fi(e,n,t){var r=t.ref;return{$$typeof:oi,type:e,key:n,
ref:r!==void 0?r:null,props:t}}function Ou(e,n){return fi(e.type,n,e.props)}function si(e){return typeof e=="object"&&e!==
null&&e.$$typeof===oi}function Mu(e){var n={"=":"=0",":":"=2"};return"$"+e.replace(/[=:]/g,function(t){return n[t]})}var xl=/\/+/g;
function li(e,n){return typeof e=="object"&&e!==null&&e.key!=null?Mu(""+e.key):n.toString(36)}function Iu(e){switch(e.status){case"\
fulfilled":return e.value;case"rejected":throw e.reason;default:switch(typeof e.status=="string"?e.then(ai,ai):(e.status=
"pending",e.then(function(n){e.status==="pending"&&(e.status="fulfilled",e.value=n)},function(n){e.status==="pending"&&(e.
status="rejected",e.reason=n)})),e.status){case"fulfilled":return e.value;case"rejected":throw e.reason}}throw e}function Zn(e,n,t,r,i){
var l=typeof e;(l==="undefined"||l==="boolean")&&(e=null);var a=!1;if(e===null)a=!0;else switch(l){case"bigint":case"str\
ing":case"number":a=!0;break;case"object":switch(e.$$typeof){case oi:case Tu:a=!0;break;case Al:return a=e._init,Zn(a(e.
_payload),n,t,r,i)}}if(a)return i=i(e),a=r===""?"."+li(e,0):r,Rl(i)?(t="",a!=null&&(t=a.replace(xl,"$&/")+"/"),Zn(i,n,t,
"",function(c){return c})):i!=null&&(si(i)&&(i=Ou(i,t+(i.key==null||e&&e.key===i.key?"":(""+i.key).replace(xl,"$&/")+"/")+
a)),n.push(i)),1;a=0;var u=r===""?".":r+":";if(Rl(e))for(var o=0;o<e.length;o++)r=e[o],l=u+li(r,o),a+=Zn(r,n,t,l,i);else if(o=
ku(e),typeof o=="function")for(e=o.call(e),o=0;!(r=e.next()).done;)r=r.value,l=u+li(r,o++),a+=Zn(r,n,t,l,i);else if(l===
"object"){if(typeof e.then=="function")return Zn(Iu(e),n,t,r,i);throw n=String(e),Error("Objects are not valid as a Reac\
t child (found: "+(n==="[object Object]"?"object with keys {"+Object.keys(e).join(", ")+"}":n)+"). If you meant to rende\
r a collection of children, use an array instead.")}return a}function tr(e,n,t){if(e==null)return e;var r=[],i=0;return Zn(
e,r,"","",function(l){return n.call(t,l,i++)}),r}function Fu(e){if(e._status===-1){var n=e._result,t=n();t.then(function(r){
(e._status===0||e._status===-1)&&(e._status=1,e._result=r,t.status===void 0&&(t.status="fulfilled",t.value=r))},function(r){
(e._status===0||e._status===-1)&&(e._status=2,e._result=r,t.status===void 0&&(t.status="rejected",t.reason=r))}),e._status===
-1&&(e._status=0,e._result=t)}if(e._status===1)return e._result.default;throw e._result}var Cl=typeof reportError=="func\
tion"?reportError:function(e){if(typeof window=="object"&&typeof window.ErrorEvent=="function"){var n=new window.ErrorEvent(
"error",{bubbles:!0,cancelable:!0,message:typeof e=="object"&&e!==null&&typeof e.message=="string"?String(e.message):String(
e),error:e});if(!window.dispatchEvent(n))return}else if(typeof process=="object"&&typeof process.emit=="function"){process.
emit("uncaughtException",e);return}console.error(e)};function Ml(e){var n=k.T,t={};t.types=n!==null?n.types:null,k.T=t;try{
var r=e(),i=k.S;i!==null&&i(t,r),typeof r=="object"&&r!==null&&typeof r.then=="function"&&r.then(ai,Cl)}catch(l){Cl(l)}finally{
n!==null&&t.types!==null&&(n.types=t.types),k.T=n}}function Il(e){var n=k.T;if(n!==null){var t=n.types;t===null?n.types=
[e]:t.indexOf(e)===-1&&t.push(e)}else Ml(Il.bind(null,e))}var Lu={map:tr,forEach:function(e,n,t){tr(e,function(){n.apply(
this,arguments)},t)},count:function(e){var n=0;return tr(e,function(){n++}),n},toArray:function(e){return tr(e,function(n){
return n})||[]},only:function(e){if(!si(e))throw Error("React.Children.only expected to receive a single React element c\
hild.");return e}};y.Activity=Su;y.Children=Lu;y.Component=Vn;y.Fragment=wu;y.Profiler=Eu;y.PureComponent=ui;y.StrictMode=
Pu;y.Suspense=Au;y.ViewTransition=_u;y.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE=k;y.__COMPILER_RUNTIME=
{__proto__:null,c:function(e){return k.H.useMemoCache(e)}};y.addTransitionType=Il;y.cache=function(e){return function(){
return e.apply(null,arguments)}};y.cacheSignal=function(){return null};y.cloneElement=function(e,n,t){if(e==null)throw Error(
"The argument must be a React element, but you passed "+e+".");var r=Sl({},e.props),i=e.key;if(n!=null)for(l in n.key!==
void 0&&(i=""+n.key),n)!Ol.call(n,l)||l==="key"||l==="__self"||l==="__source"||l==="ref"&&n.ref===void 0||(r[l]=n[l]);var l=arguments.
length-2;if(l===1)r.children=t;else if(1<l){for(var a=Array(l),u=0;u<l;u++)a[u]=arguments[u+2];r.children=a}return fi(e.
type,i,r)};y.createContext=function(e){return e={$$typeof:xu,_currentValue:e,_currentValue2:e,_threadCount:0,Provider:null,
Consumer:null},e.Provider=e,e.Consumer={$$typeof:Ru,_context:e},e};y.createElement=function(e,n,t){var r,i={},l=null;if(n!=
null)for(r in n.key!==void 0&&(l=""+n.key),n)Ol.call(n,r)&&r!=="key"&&r!=="__self"&&r!=="__source"&&(i[r]=n[r]);var a=arguments.
length-2;if(a===1)i.children=t;else if(1<a){for(var u=Array(a),o=0;o<a;o++)u[o]=arguments[o+2];i.children=u}if(e&&e.defaultProps)
for(r in a=e.defaultProps,a)i[r]===void 0&&(i[r]=a[r]);return fi(e,l,i)};y.createRef=function(){return{current:null}};y.
forwardRef=function(e){return{$$typeof:Cu,render:e}};y.isValidElement=si;y.lazy=function(e){return{$$typeof:Al,_payload:{
_status:-1,_result:e},_init:Fu}};y.memo=function(e,n){return{$$typeof:Nu,type:e,compare:n===void 0?null:n}};y.startTransition=
Ml;y.unstable_useCacheRefresh=function(){return k.H.useCacheRefresh()};y.use=function(e){return k.H.use(e)};y.useActionState=
function(e,n,t){return k.H.useActionState(e,n,t)};y.useCallback=function(e,n){return k.H.useCallback(e,n)};y.useContext=
function(e){return k.H.useContext(e)};y.useDebugValue=function(){};y.useDeferredValue=function(e,n){return k.H.useDeferredValue(
e,n)};y.useEffect=function(e,n){return k.H.useEffect(e,n)};y.useEffectEvent=function(e){return k.H.useEffectEvent(e)};y.
useId=function(){return k.H.useId()};y.useImperativeHandle=function(e,n,t){return k.H.useImperativeHandle(e,n,t)};y.useInsertionEffect=
function(e,n){return k.H.useInsertionEffect(e,n)};y.useLayoutEffect=function(e,n){return k.H.useLayoutEffect(e,n)};y.useMemo=
function(e,n){return k.H.useMemo(e,n)};y.useOptimistic=function(e,n){return k.H.useOptimistic(e,n)};y.useReducer=function(e,n,t){
return k.H.useReducer(e,n,t)};y.useRef=function(e){return k.H.useRef(e)};y.useState=function(e){return k.H.useState(e)};
y.useSyncExternalStore=function(e,n,t){return k.H.useSyncExternalStore(e,n,t)};y.useTransition=function(){return k.H.useTransition()};
y.version="19.3.1"});var de=wn((yf,Ll)=>{"use strict";Ll.exports=Fl()});var Bl=wn(te=>{"use strict";var Du=de();function Hl(e){var n="https://react.dev/errors/"+e;if(1<arguments.length){n+="?a\
rgs[]="+encodeURIComponent(arguments[1]);for(var t=2;t<arguments.length;t++)n+="&args[]="+encodeURIComponent(arguments[t])}
return"Minified React error #"+e+"; visit "+n+" for the full message or use the non-minified dev environment for full er\
rors and additional helpful warnings."}function en(){}var ue={d:{f:en,r:function(){throw Error(Hl(522))},D:en,C:en,L:en,
m:en,X:en,S:en,M:en},p:0,findDOMNode:null},Hu=Symbol.for("react.portal"),Bu=Symbol.for("react.recoverable"),Dl=Symbol.for(
"react.optimistic_key");function Yu(e,n,t){var r=3<arguments.length&&arguments[3]!==void 0?arguments[3]:null;return{$$typeof:Hu,
key:r==null?null:r===Dl?Dl:""+r,children:e,containerInfo:n,implementation:t}}var yt=Du.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE;
function rr(e,n){if(e==="font")return"";if(typeof n=="string")return n==="use-credentials"?n:""}te.__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE=
ue;te.browser=function(e){return{$$typeof:Bu,_reason:e}};te.createPortal=function(e,n){var t=2<arguments.length&&arguments[2]!==
void 0?arguments[2]:null;if(!n||n.nodeType!==1&&n.nodeType!==9&&n.nodeType!==11)throw Error(Hl(299));return Yu(e,n,null,
t)};te.flushSync=function(e){var n=yt.T,t=ue.p;try{if(yt.T=null,ue.p=2,e)return e()}finally{yt.T=n,ue.p=t,ue.d.f()}};te.
preconnect=function(e,n){typeof e=="string"&&(n?(n=n.crossOrigin,n=typeof n=="string"?n==="use-credentials"?n:"":void 0):
n=null,ue.d.C(e,n))};te.prefetchDNS=function(e){typeof e=="string"&&ue.d.D(e)};te.preinit=function(e,n){if(typeof e=="st\
ring"&&n&&typeof n.as=="string"){var t=n.as,r=rr(t,n.crossOrigin),i=typeof n.integrity=="string"?n.integrity:void 0,l=typeof n.
fetchPriority=="string"?n.fetchPriority:void 0;t==="style"?ue.d.S(e,typeof n.precedence=="string"?n.precedence:void 0,{crossOrigin:r,
integrity:i,fetchPriority:l}):t==="script"&&ue.d.X(e,{crossOrigin:r,integrity:i,fetchPriority:l,nonce:typeof n.nonce=="s\
tring"?n.nonce:void 0})}};te.preinitModule=function(e,n){if(typeof e=="string")if(typeof n=="object"&&n!==null){if(n.as==
null||n.as==="script"){var t=rr(n.as,n.crossOrigin);ue.d.M(e,{crossOrigin:t,integrity:typeof n.integrity=="string"?n.integrity:
void 0,nonce:typeof n.nonce=="string"?n.nonce:void 0,fetchPriority:typeof n.fetchPriority=="string"?n.fetchPriority:void 0})}}else
n==null&&ue.d.M(e)};te.preload=function(e,n){if(typeof e=="string"&&typeof n=="object"&&n!==null&&typeof n.as=="string"){
var t=n.as,r=rr(t,n.crossOrigin);ue.d.L(e,t,{crossOrigin:r,integrity:typeof n.integrity=="string"?n.integrity:void 0,nonce:typeof n.
nonce=="string"?n.nonce:void 0,type:typeof n.type=="string"?n.type:void 0,fetchPriority:typeof n.fetchPriority=="string"?
n.fetchPriority:void 0,referrerPolicy:typeof n.referrerPolicy=="string"?n.referrerPolicy:void 0,imageSrcSet:typeof n.imageSrcSet==
"string"?n.imageSrcSet:void 0,imageSizes:typeof n.imageSizes=="string"?n.imageSizes:void 0,media:typeof n.media=="string"?
n.media:void 0})}};te.preloadModule=function(e,n){if(typeof e=="string")if(n){var t=rr(n.as,n.crossOrigin);ue.d.m(e,{as:typeof n.
as=="string"&&n.as!=="script"?n.as:void 0,crossOrigin:t,integrity:typeof n.integrity=="string"?n.integrity:void 0,nonce:typeof n.
nonce=="string"?n.nonce:void 0,fetchPriority:typeof n.fetchPriority=="string"?n.fetchPriority:void 0})}else ue.d.m(e)};te.
requestFormReset=function(e){ue.d.r(e)};te.unstable_batchedUpdates=function(e,n){return e(n)};te.useFormState=function(e,n,t){
return yt.H.useFormState(e,n,t)};te.useFormStatus=function(){return yt.H.useHostTransitionStatus()};te.version="19.3.1"});var zl=wn((mf,Ul)=>{"use strict";function Yl(){if(!(typeof __REACT_DEVTOOLS_GLOBAL_HOOK__>"u"||typeof __REACT_DEVTOOLS_GLOBAL_HOOK__.
checkDCE!="function"))try{__REACT_DEVTOOLS_GLOBAL_HOOK__.checkDCE(Yl)}catch(e){console.error(e)}}Yl(),Ul.exports=Bl()});var no=wn(Dr=>{"use strict";var ma=de(),Uu=zl();function v(e){var n="https://react.dev/errors/"+e;if(1<arguments.length){
n+="?args[]="+encodeURIComponent(arguments[1]);for(var t=2;t<arguments.length;t++)n+="&args[]="+encodeURIComponent(arguments[t])}
return"Minified React error #"+e+"; visit "+n+" for the full message or use the non-minified dev environment for full er\
rors and additional helpful warnings."}var Ta=Symbol.for("react.transitional.element"),wa=Symbol.for("react.portal"),Pa=Symbol.
for("react.fragment"),Ea=Symbol.for("react.strict_mode"),Ra=Symbol.for("react.profiler"),xa=Symbol.for("react.consumer"),
Nr=Symbol.for("react.context"),Ni=Symbol.for("react.forward_ref"),Sr=Symbol.for("react.suspense"),Si=Symbol.for("react.s\
uspense_list"),_i=Symbol.for("react.memo"),_r=Symbol.for("react.lazy"),zu=Symbol.for("react.scope"),Ca=Symbol.for("react\
.activity"),Wu=Symbol.for("react.legacy_hidden"),Gu=Symbol.for("react.memo_cache_sentinel"),ki=Symbol.for("react.view_tr\
ansition"),kr=Symbol.for("react.recoverable"),Wl=Symbol.iterator;function Aa(e){return e===null||typeof e!="object"?null:
(e=Wl&&e[Wl]||e["@@iterator"],typeof e=="function"?e:null)}var Xu=Symbol.for("react.optimistic_key"),gr=Array.isArray;function Gl(e,n){
var t=e.length&3,r=e.length-t,i=n;for(n=0;n<r;){var l=e.charCodeAt(n)&255|(e.charCodeAt(++n)&255)<<8|(e.charCodeAt(++n)&
255)<<16|(e.charCodeAt(++n)&255)<<24;++n,l=3432918353*(l&65535)+((3432918353*(l>>>16)&65535)<<16)&4294967295,l=l<<15|l>>>
17,l=461845907*(l&65535)+((461845907*(l>>>16)&65535)<<16)&4294967295,i^=l,i=i<<13|i>>>19,i=5*(i&65535)+((5*(i>>>16)&65535)<<
16)&4294967295,i=(i&65535)+27492+(((i>>>16)+58964&65535)<<16)}switch(l=0,t){case 3:l^=(e.charCodeAt(n+2)&255)<<16;case 2:
l^=(e.charCodeAt(n+1)&255)<<8;case 1:l^=e.charCodeAt(n)&255,l=3432918353*(l&65535)+((3432918353*(l>>>16)&65535)<<16)&4294967295,
l=l<<15|l>>>17,i^=461845907*(l&65535)+((461845907*(l>>>16)&65535)<<16)&4294967295}return i^=e.length,i^=i>>>16,i=2246822507*
(i&65535)+((2246822507*(i>>>16)&65535)<<16)&4294967295,i^=i>>>13,i=3266489909*(i&65535)+((3266489909*(i>>>16)&65535)<<16)&
4294967295,(i^i>>>16)>>>0}var ge=Object.assign,F=Object.prototype.hasOwnProperty,Zu=RegExp("^[:A-Z_a-z\\u00C0-\\u00D6\\u00D\
8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\\
uFFFD][:A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\\
u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\-.0-9\\u00B7\\u0300-\\u036F\\u203F-\\u2040]*$"),Xl={},Zl={};function Oi(e){
return F.call(Zl,e)?!0:F.call(Xl,e)?!1:Zu.test(e)?Zl[e]=!0:(Xl[e]=!0,!1)}var Vu=new Set("animationIterationCount aspectR\
atio borderImageOutset borderImageSlice borderImageWidth boxFlex boxFlexGroup boxOrdinalGroup columnCount columns flex f\
lexGrow flexPositive flexShrink flexNegative flexOrder gridArea gridRow gridRowEnd gridRowSpan gridRowStart gridColumn g\
ridColumnEnd gridColumnSpan gridColumnStart fontWeight lineClamp lineHeight opacity order orphans scale tabSize widows z\
Index zoom fillOpacity floodOpacity stopOpacity strokeDasharray strokeDashoffset strokeMiterlimit strokeOpacity strokeWi\
dth MozAnimationIterationCount MozBoxFlex MozBoxFlexGroup MozLineClamp msAnimationIterationCount msFlex msZoom msFlexGro\
w msFlexNegative msFlexOrder msFlexPositive msFlexShrink msGridColumn msGridColumnSpan msGridRow msGridRowSpan WebkitAni\
mationIterationCount WebkitBoxFlex WebKitBoxFlexGroup WebkitBoxOrdinalGroup WebkitColumnCount WebkitColumns WebkitFlex W\
ebkitFlexGrow WebkitFlexPositive WebkitFlexShrink WebkitLineClamp".split(" ")),Qu=new Map([["acceptCharset","accept-char\
set"],["htmlFor","for"],["httpEquiv","http-equiv"],["crossOrigin","crossorigin"],["accentHeight","accent-height"],["alig\
nmentBaseline","alignment-baseline"],["arabicForm","arabic-form"],["baselineShift","baseline-shift"],["capHeight","cap-h\
eight"],["clipPath","clip-path"],["clipRule","clip-rule"],["colorInterpolation","color-interpolation"],["colorInterpolat\
ionFilters","color-interpolation-filters"],["colorProfile","color-profile"],["colorRendering","color-rendering"],["domin\
antBaseline","dominant-baseline"],["enableBackground","enable-background"],["fillOpacity","fill-opacity"],["fillRule","f\
ill-rule"],["floodColor","flood-color"],["floodOpacity","flood-opacity"],["fontFamily","font-family"],["fontSize","font-\
size"],["fontSizeAdjust","font-size-adjust"],["fontStretch","font-stretch"],["fontStyle","font-style"],["fontVariant","f\
ont-variant"],["fontWeight","font-weight"],["glyphName","glyph-name"],["glyphOrientationHorizontal","glyph-orientation-h\
orizontal"],["glyphOrientationVertical","glyph-orientation-vertical"],["horizAdvX","horiz-adv-x"],["horizOriginX","horiz\
-origin-x"],["imageRendering","image-rendering"],["letterSpacing","letter-spacing"],["lightingColor","lighting-color"],[
"markerEnd","marker-end"],["markerMid","marker-mid"],["markerStart","marker-start"],["maskType","mask-type"],["overlineP\
osition","overline-position"],["overlineThickness","overline-thickness"],["paintOrder","paint-order"],["panose-1","panos\
e-1"],["pointerEvents","pointer-events"],["renderingIntent","rendering-intent"],["shapeRendering","shape-rendering"],["s\
topColor","stop-color"],["stopOpacity","stop-opacity"],["strikethroughPosition","strikethrough-position"],["strikethroug\
hThickness","strikethrough-thickness"],["strokeDasharray","stroke-dasharray"],["strokeDashoffset","stroke-dashoffset"],[
"strokeLinecap","stroke-linecap"],["strokeLinejoin","stroke-linejoin"],["strokeMiterlimit","stroke-miterlimit"],["stroke\
Opacity","stroke-opacity"],["strokeWidth","stroke-width"],["textAnchor","text-anchor"],["textDecoration","text-decoratio\
n"],["textRendering","text-rendering"],["transformOrigin","transform-origin"],["underlinePosition","underline-position"],
["underlineThickness","underline-thickness"],["unicodeBidi","unicode-bidi"],["unicodeRange","unicode-range"],["unitsPerE\
m","units-per-em"],["vAlphabetic","v-alphabetic"],["vHanging","v-hanging"],["vIdeographic","v-ideographic"],["vMathemati\
cal","v-mathematical"],["vectorEffect","vector-effect"],["vertAdvY","vert-adv-y"],["vertOriginX","vert-origin-x"],["vert\
OriginY","vert-origin-y"],["wordSpacing","word-spacing"],["writingMode","writing-mode"],["xmlnsXlink","xmlns:xlink"],["x\
Height","x-height"]]),Ju=/["'&<>]/;function w(e){if(typeof e=="boolean"||typeof e=="number"||typeof e=="bigint")return""+
e;e=""+e;var n=Ju.exec(e);if(n){var t="",r,i=0;for(r=n.index;r<e.length;r++){switch(e.charCodeAt(r)){case 34:n="&quot;";
break;case 38:n="&amp;";break;case 39:n="&#x27;";break;case 60:n="&lt;";break;case 62:n="&gt;";break;default:continue}i!==
r&&(t+=e.slice(i,r)),i=r+1,t+=n}e=i!==r?t+e.slice(i,r):t}return e}var Ku=/([A-Z])/g,qu=/^ms-/,ju=/^[\u0000-\u001F ]*j[\r\n\t]*a[\r\n\t]*v[\r\n\t]*a[\r\n\t]*s[\r\n\t]*c[\r\n\t]*r[\r\n\t]*i[\r\n\t]*p[\r\n\t]*t[\r\n\t]*:/i;
function Pt(e){return ju.test(""+e)?"javascript:throw new Error('React has blocked a javascript: URL as a security preca\
ution.')":e}var Qn=ma.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE,Na=Uu.__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE,
$u={pending:!1,data:null,method:null,action:null},Ye=Na.d;Na.d={f:Ye.f,r:Ye.r,D:yc,C:bc,L:mc,m:Tc,X:Pc,S:wc,M:Ec};var Pe=[],
qn=null,Sa=/(<\/|<)(s)(cript)/gi;function _a(e,n,t,r){return""+n+(t==="s"?"\\u0073":"\\u0053")+r}function ec(e,n,t,r,i){
return{idPrefix:e===void 0?"":e,nextFormID:0,streamingFormat:0,bootstrapScriptContent:t,bootstrapScripts:r,bootstrapModules:i,
instructions:0,hasBody:!1,hasHtml:!1,unknownResources:{},dnsResources:{},connectResources:{default:{},anonymous:{},credentials:{}},
imageResources:{},styleResources:{},scriptResources:{},moduleUnknownResources:{},moduleScriptResources:{}}}function j(e,n,t,r){
return{insertionMode:e,selectedValue:n,tagScope:t,viewTransition:r}}function Vl(e,n,t){var r=e.tagScope&-25;switch(n){case"\
noscript":return j(2,null,r|1,null);case"select":return j(2,t.value!=null?t.value:t.defaultValue,r,null);case"svg":return j(
4,null,r,null);case"picture":return j(2,null,r|2,null);case"math":return j(5,null,r,null);case"foreignObject":return j(2,
null,r,null);case"table":return j(6,null,r,null);case"thead":case"tbody":case"tfoot":return j(7,null,r,null);case"colgro\
up":return j(9,null,r,null);case"tr":return j(8,null,r,null);case"head":if(2>e.insertionMode)return j(3,null,r,null);break;case"\
html":if(e.insertionMode===0)return j(1,null,r,null)}return 6<=e.insertionMode||2>e.insertionMode?j(2,null,r,null):e.viewTransition!==
null||e.tagScope!==r?j(e.insertionMode,e.selectedValue,r,null):e}function ka(e){return e===null?null:{update:e.update,enter:"\
none",exit:"none",share:e.update,parentEnter:"none",parentExit:"none",name:e.autoName,autoName:e.autoName,nameIdx:0}}function bi(e,n){
return n.tagScope&32&&(e.instructions|=128),j(n.insertionMode,n.selectedValue,n.tagScope|12,ka(n.viewTransition))}function or(e,n){
e=ka(n.viewTransition);var t=n.tagScope|16;return e!==null&&e.share!=="none"&&(t|=64),j(n.insertionMode,n.selectedValue,
t,e)}function Oa(e,n,t){return e="_"+e.idPrefix+"R_"+n,0<t&&(e+="H"+t.toString(32)),e+"_"}function ye(e,n){n=n.viewTransition,
n!==null&&(n.name!=="auto"&&(Y(e,"vt-name",n.nameIdx===0?n.name:n.name+"_"+n.nameIdx),n.nameIdx++),Y(e,"vt-update",n.update),
n.enter!=="none"&&Y(e,"vt-enter",n.enter),n.exit!=="none"&&Y(e,"vt-exit",n.exit),n.share!=="none"&&Y(e,"vt-share",n.share))}
var Ql=new Map;function Ma(e,n){if(typeof n!="object")throw Error(v(62));var t=!0,r;for(r in n)if(F.call(n,r)){var i=n[r];
if(i!=null&&typeof i!="boolean"&&i!==""){if(r.indexOf("--")===0){var l=w(r);i=w((""+i).trim())}else l=Ql.get(r),l===void 0&&
(l=w(r.replace(Ku,"-$1").toLowerCase().replace(qu,"-ms-")),Ql.set(r,l)),i=typeof i=="number"?i===0||Vu.has(r)?""+i:i+"px":
w((""+i).trim());t?(t=!1,e.push(' style="',l,":",i)):e.push(";",l,":",i)}}t||e.push('"')}function mi(e,n,t){t&&typeof t!=
"function"&&typeof t!="symbol"&&e.push(" ",n,'=""')}function Y(e,n,t){typeof t!="function"&&typeof t!="symbol"&&typeof t!=
"boolean"&&e.push(" ",n,'="',w(t),'"')}var Ia=w("javascript:throw new Error('React form unexpectedly submitted.')");function di(e,n){
this.push('<input type="hidden"'),Fa(e),Y(this,"name",n),Y(this,"value",e),this.push("/>")}function Fa(e){if(typeof e!="\
string")throw Error(v(480))}function La(e,n){if(typeof n.$$FORM_ACTION=="function"){var t=e.nextFormID++;e=e.idPrefix+t;
try{var r=n.$$FORM_ACTION(e);if(r){var i=r.data;i?.forEach(Fa)}return r}catch(l){if(typeof l=="object"&&l!==null&&typeof l.
then=="function")throw l}}return null}function Jl(e,n,t,r,i,l,a,u){var o=null;if(typeof r=="function"){var c=La(n,r);c!==
null?(u=c.name,r=c.action||"",i=c.encType,l=c.method,a=c.target,o=c.data):(e.push(" ","formAction",'="',Ia,'"'),a=l=i=r=
u=null,Da(n,t))}return u!=null&&A(e,"name",u),r!=null&&A(e,"formAction",r),i!=null&&A(e,"formEncType",i),l!=null&&A(e,"f\
ormMethod",l),a!=null&&A(e,"formTarget",a),o}function A(e,n,t){switch(n){case"className":Y(e,"class",t);break;case"tabIn\
dex":Y(e,"tabindex",t);break;case"dir":case"role":case"viewBox":case"width":case"height":Y(e,n,t);break;case"style":Ma(e,
t);break;case"src":case"href":if(t==="")break;case"action":case"formAction":if(t==null||typeof t=="function"||typeof t==
"symbol"||typeof t=="boolean")break;t=Pt(""+t),e.push(" ",n,'="',w(t),'"');break;case"defaultValue":case"defaultChecked":case"\
innerHTML":case"suppressContentEditableWarning":case"suppressHydrationWarning":case"ref":break;case"autoFocus":case"mult\
iple":case"muted":mi(e,n.toLowerCase(),t);break;case"xlinkHref":if(typeof t=="function"||typeof t=="symbol"||typeof t=="\
boolean")break;t=Pt(""+t),e.push(" ","xlink:href",'="',w(t),'"');break;case"contentEditable":case"spellCheck":case"dragg\
able":case"value":case"autoReverse":case"externalResourcesRequired":case"focusable":case"preserveAlpha":typeof t!="funct\
ion"&&typeof t!="symbol"&&e.push(" ",n,'="',w(t),'"');break;case"inert":case"allowFullScreen":case"async":case"autoPlay":case"\
controls":case"credentialless":case"default":case"defer":case"disabled":case"disablePictureInPicture":case"disableRemote\
Playback":case"formNoValidate":case"hidden":case"loop":case"noModule":case"noValidate":case"open":case"playsInline":case"\
readOnly":case"required":case"reversed":case"scoped":case"seamless":case"itemScope":t&&typeof t!="function"&&typeof t!="\
symbol"&&e.push(" ",n,'=""');break;case"capture":case"download":t===!0?e.push(" ",n,'=""'):t!==!1&&typeof t!="function"&&
typeof t!="symbol"&&e.push(" ",n,'="',w(t),'"');break;case"cols":case"rows":case"size":case"span":typeof t!="function"&&
typeof t!="symbol"&&!isNaN(t)&&1<=t&&e.push(" ",n,'="',w(t),'"');break;case"rowSpan":case"start":typeof t=="function"||typeof t==
"symbol"||isNaN(t)||e.push(" ",n,'="',w(t),'"');break;case"xlinkActuate":Y(e,"xlink:actuate",t);break;case"xlinkArcrole":
Y(e,"xlink:arcrole",t);break;case"xlinkRole":Y(e,"xlink:role",t);break;case"xlinkShow":Y(e,"xlink:show",t);break;case"xl\
inkTitle":Y(e,"xlink:title",t);break;case"xlinkType":Y(e,"xlink:type",t);break;case"xmlBase":Y(e,"xml:base",t);break;case"\
xmlLang":Y(e,"xml:lang",t);break;case"xmlSpace":Y(e,"xml:space",t);break;default:if((!(2<n.length)||n[0]!=="o"&&n[0]!=="\
O"||n[1]!=="n"&&n[1]!=="N")&&(n=Qu.get(n)||n,Oi(n))){switch(typeof t){case"function":case"symbol":return;case"boolean":var r=n.
toLowerCase().slice(0,5);if(r!=="data-"&&r!=="aria-")return}e.push(" ",n,'="',w(t),'"')}}}function be(e,n,t){if(n!=null){
if(t!=null)throw Error(v(60));if(typeof n!="object"||!("__html"in n))throw Error(v(61));n=n.__html,n!=null&&e.push(""+n)}}
function nc(e){var n="";return ma.Children.forEach(e,function(t){t!=null&&(n+=t)}),n}function Da(e,n){if((e.instructions&
16)===0){e.instructions|=16;var t=n.preamble,r=n.bootstrapChunks;(t.htmlChunks||t.headChunks)&&r.length===0?(r.push(n.startInlineScript),
ur(r,e),r.push(">",`addEventListener("submit",function(a){if(!a.defaultPrevented){var b=a.target,d=a.submitter,c=b.actio\
n,e=d;if(d){var f=d.getAttribute("formAction");null!=f&&(c=f,e=null)}"javascript:throw new Error('React form unexpectedl\
y submitted.')"===c&&(a.preventDefault(),a=new FormData(b,e),c=b.ownerDocument||b,(c.$$reactFormReplay=c.$$reactFormRepl\
ay||[]).push(b,d,a))}});`,"</script>")):r.unshift(n.startInlineScript,">",`addEventListener("submit",function(a){if(!a.d\
efaultPrevented){var b=a.target,d=a.submitter,c=b.action,e=d;if(d){var f=d.getAttribute("formAction");null!=f&&(c=f,e=nu\
ll)}"javascript:throw new Error('React form unexpectedly submitted.')"===c&&(a.preventDefault(),a=new FormData(b,e),c=b.\
ownerDocument||b,(c.$$reactFormReplay=c.$$reactFormReplay||[]).push(b,d,a))}});`,"</script>")}}function re(e,n){e.push(G(
"link"));for(var t in n)if(F.call(n,t)){var r=n[t];if(r!=null)switch(t){case"children":case"dangerouslySetInnerHTML":throw Error(
v(399,"link"));default:A(e,t,r)}}return e.push("/>"),null}var Kl=/(<\/|<)(s)(tyle)/gi;function ql(e,n,t,r){return""+n+(t===
"s"?"\\73 ":"\\53 ")+r}function Jn(e,n,t,r){e.push(G(t));for(var i in n)if(F.call(n,i)){var l=n[i];if(l!=null)switch(i){case"\
children":case"dangerouslySetInnerHTML":throw Error(v(399,t));default:A(e,i,l)}}return ye(e,r),e.push("/>"),null}function jl(e,n){
e.push(G("title"));var t=null,r=null,i;for(i in n)if(F.call(n,i)){var l=n[i];if(l!=null)switch(i){case"children":t=l;break;case"\
dangerouslySetInnerHTML":r=l;break;default:A(e,i,l)}}return e.push(">"),n=Array.isArray(t)?2>t.length?t[0]:null:t,typeof n!=
"function"&&typeof n!="symbol"&&n!==null&&n!==void 0&&e.push(w(""+n)),be(e,r,t),e.push(Rn("title")),null}function vr(e,n){
e.push(G("script"));var t=null,r=null,i;for(i in n)if(F.call(n,i)){var l=n[i];if(l!=null)switch(i){case"children":t=l;break;case"\
dangerouslySetInnerHTML":r=l;break;default:A(e,i,l)}}return e.push(">"),be(e,r,t),typeof t=="string"&&e.push((""+t).replace(
Sa,_a)),e.push(Rn("script")),null}function hi(e,n,t,r){e.push(G(t));var i=t=null,l;for(l in n)if(F.call(n,l)){var a=n[l];
if(a!=null)switch(l){case"children":t=a;break;case"dangerouslySetInnerHTML":i=a;break;default:A(e,l,a)}}return ye(e,r),e.
push(">"),be(e,i,t),t}function ir(e,n,t,r){e.push(G(t));var i=t=null,l;for(l in n)if(F.call(n,l)){var a=n[l];if(a!=null)
switch(l){case"children":t=a;break;case"dangerouslySetInnerHTML":i=a;break;default:A(e,l,a)}}return ye(e,r),e.push(">"),
be(e,i,t),typeof t=="string"?(e.push(w(t)),null):t}var tc=/^[a-zA-Z][a-zA-Z:_\.\-\d]*$/,$l=new Map;function G(e){var n=$l.
get(e);if(n===void 0){if(!tc.test(e))throw Error(v(65,e));n="<"+e,$l.set(e,n)}return n}function rc(e,n,t,r,i,l,a,u,o){switch(n){case"\
div":case"span":case"svg":case"path":break;case"a":e.push(G("a"));var c=null,f=null,s;for(s in t)if(F.call(t,s)){var h=t[s];
if(h!=null)switch(s){case"children":c=h;break;case"dangerouslySetInnerHTML":f=h;break;case"href":h===""?Y(e,"href",""):A(
e,s,h);break;default:A(e,s,h)}}if(ye(e,u),e.push(">"),be(e,f,c),typeof c=="string"){e.push(w(c));var d=null}else d=c;return d;case"\
g":case"p":case"li":break;case"select":e.push(G("select"));var g=null,b=null,N;for(N in t)if(F.call(t,N)){var R=t[N];if(R!=
null)switch(N){case"children":g=R;break;case"dangerouslySetInnerHTML":b=R;break;case"defaultValue":case"value":break;default:
A(e,N,R)}}return ye(e,u),e.push(">"),be(e,b,g),g;case"option":var S=u.selectedValue;e.push(G("option"));var U=null,D=null,
T=null,C=null,M;for(M in t)if(F.call(t,M)){var ve=t[M];if(ve!=null)switch(M){case"children":U=ve;break;case"selected":T=
ve;break;case"dangerouslySetInnerHTML":C=ve;break;case"value":D=ve;default:A(e,M,ve)}}if(S!=null){var E=D!==null?""+D:nc(
U);if(gr(S)){for(var H=0;H<S.length;H++)if(""+S[H]===E){e.push(' selected=""');break}}else""+S===E&&e.push(' selected=""')}else
T&&e.push(' selected=""');return e.push(">"),be(e,C,U),U;case"textarea":e.push(G("textarea"));var B=null,V=null,I=null,se;
for(se in t)if(F.call(t,se)){var z=t[se];if(z!=null)switch(se){case"children":I=z;break;case"value":B=z;break;case"defau\
ltValue":V=z;break;case"dangerouslySetInnerHTML":throw Error(v(91));default:A(e,se,z)}}if(B===null&&V!==null&&(B=V),ye(e,
u),e.push(">"),I!=null){if(B!=null)throw Error(v(92));if(gr(I)){if(1<I.length)throw Error(v(93));B=""+I[0]}B=""+I}return typeof B==
"string"&&B[0]===`
`&&e.push(`
`),B!==null&&e.push(w(""+B)),null;case"input":e.push(G("input"));var Ge=null,pe=null,W=null,un=null,J=null,_e=null,K=null,
Te=null,Ee=null,ke;for(ke in t)if(F.call(t,ke)){var L=t[ke];if(L!=null)switch(ke){case"children":case"dangerouslySetInne\
rHTML":throw Error(v(399,"input"));case"name":Ge=L;break;case"formAction":pe=L;break;case"formEncType":W=L;break;case"fo\
rmMethod":un=L;break;case"formTarget":J=L;break;case"defaultChecked":Ee=L;break;case"defaultValue":K=L;break;case"checke\
d":Te=L;break;case"value":_e=L;break;default:A(e,ke,L)}}var Le=Jl(e,r,i,pe,W,un,J,Ge);return Te!==null?mi(e,"checked",Te):
Ee!==null&&mi(e,"checked",Ee),_e!==null?A(e,"value",_e):K!==null&&A(e,"value",K),ye(e,u),e.push("/>"),Le?.forEach(di,e),
null;case"button":e.push(G("button"));var cn=null,Oe=null,Xe=null,it=null,Mn=null,In=null,Wt=null,Me;for(Me in t)if(F.call(
t,Me)){var ee=t[Me];if(ee!=null)switch(Me){case"children":cn=ee;break;case"dangerouslySetInnerHTML":Oe=ee;break;case"nam\
e":Xe=ee;break;case"formAction":it=ee;break;case"formEncType":Mn=ee;break;case"formMethod":In=ee;break;case"formTarget":
Wt=ee;break;default:A(e,Me,ee)}}var Gt=Jl(e,r,i,it,Mn,In,Wt,Xe);if(ye(e,u),e.push(">"),Gt?.forEach(di,e),be(e,Oe,cn),typeof cn==
"string"){e.push(w(cn));var lt=null}else lt=cn;return lt;case"form":e.push(G("form"));var fn=null,Xt=null,De=null,Ze=null,
sn=null,Ve=null,dn;for(dn in t)if(F.call(t,dn)){var Ie=t[dn];if(Ie!=null)switch(dn){case"children":fn=Ie;break;case"dang\
erouslySetInnerHTML":Xt=Ie;break;case"action":De=Ie;break;case"encType":Ze=Ie;break;case"method":sn=Ie;break;case"target":
Ve=Ie;break;default:A(e,dn,Ie)}}var Fn=null,Qe=null;if(typeof De=="function"){var oe=La(r,De);oe!==null?(De=oe.action||"",
Ze=oe.encType,sn=oe.method,Ve=oe.target,Fn=oe.data,Qe=oe.name):(e.push(" ","action",'="',Ia,'"'),Ve=sn=Ze=De=null,Da(r,i))}
if(De!=null&&A(e,"action",De),Ze!=null&&A(e,"encType",Ze),sn!=null&&A(e,"method",sn),Ve!=null&&A(e,"target",Ve),ye(e,u),
e.push(">"),Qe!==null&&(e.push('<input type="hidden"'),Y(e,"name",Qe),e.push("/>"),Fn?.forEach(di,e)),be(e,Xt,fn),typeof fn==
"string"){e.push(w(fn));var at=null}else at=fn;return at;case"menuitem":e.push(G("menuitem"));for(var hn in t)if(F.call(
t,hn)){var Zt=t[hn];if(Zt!=null)switch(hn){case"children":case"dangerouslySetInnerHTML":throw Error(v(400));default:A(e,
hn,Zt)}}return ye(e,u),e.push(">"),null;case"object":e.push(G("object"));var Re=null,ot=null,Je;for(Je in t)if(F.call(t,
Je)){var Ke=t[Je];if(Ke!=null)switch(Je){case"children":Re=Ke;break;case"dangerouslySetInnerHTML":ot=Ke;break;case"data":
var _=Pt(""+Ke);if(_==="")break;e.push(" ","data",'="',w(_),'"');break;default:A(e,Je,Ke)}}if(ye(e,u),e.push(">"),be(e,ot,
Re),typeof Re=="string"){e.push(w(Re));var xe=null}else xe=Re;return xe;case"title":var we=u.tagScope&1,ut=u.tagScope&4;
if(u.insertionMode===4||we||t.itemProp!=null)var Ln=jl(e,t);else ut?Ln=null:(jl(i.hoistableChunks,t),Ln=void 0);return Ln;case"\
link":var Dn=u.tagScope&1,Vt=u.tagScope&4,Qt=t.rel,Ce=t.href,Hn=t.precedence;if(u.insertionMode===4||Dn||t.itemProp!=null||
typeof Qt!="string"||typeof Ce!="string"||Ce===""){re(e,t);var gn=null}else if(t.rel==="stylesheet")if(typeof Hn!="strin\
g"||t.disabled!=null||t.onLoad||t.onError)gn=re(e,t);else{var He=i.styles.get(Hn),qe=r.styleResources.hasOwnProperty(Ce)?
r.styleResources[Ce]:void 0;if(qe!==null){r.styleResources[Ce]=null,He||(He={precedence:w(Hn),rules:[],hrefs:[],sheets:new Map},
i.styles.set(Hn,He));var je={state:0,props:ge({},t,{"data-precedence":t.precedence,precedence:null})};if(qe){qe.length===
2&&Et(je.props,qe);var ct=i.preloads.stylesheets.get(Ce);ct&&0<ct.length?ct.length=0:je.state=1}He.sheets.set(Ce,je),a&&
a.stylesheets.add(je)}else if(He){var Jt=He.sheets.get(Ce);Jt&&a&&a.stylesheets.add(Jt)}o&&e.push("<!-- -->"),gn=null}else
t.onLoad||t.onError?gn=re(e,t):(o&&e.push("<!-- -->"),gn=Vt?null:re(i.hoistableChunks,t));return gn;case"script":var Jr=u.
tagScope&1,Bn=t.async;if(typeof t.src!="string"||!t.src||!Bn||typeof Bn=="function"||typeof Bn=="symbol"||t.onLoad||t.onError||
u.insertionMode===4||Jr||t.itemProp!=null)var Kt=vr(e,t);else{var $e=t.src;if(t.type==="module")var vn=r.moduleScriptResources,
pn=i.preloads.moduleScripts;else vn=r.scriptResources,pn=i.preloads.scripts;var Yn=vn.hasOwnProperty($e)?vn[$e]:void 0;if(Yn!==
null){vn[$e]=null;var ft=t;if(Yn){Yn.length===2&&(ft=ge({},t),Et(ft,Yn));var qt=pn.get($e);qt&&(qt.length=0)}var jt=[];i.
scripts.add(jt),vr(jt,ft)}o&&e.push("<!-- -->"),Kt=null}return Kt;case"style":var Kr=u.tagScope&1,Un=t.precedence,Fe=t.href,
fu=t.nonce;if(u.insertionMode===4||Kr||t.itemProp!=null||typeof Un!="string"||typeof Fe!="string"||Fe===""){e.push(G("st\
yle"));var zn=null,cl=null,st;for(st in t)if(F.call(t,st)){var $t=t[st];if($t!=null)switch(st){case"children":zn=$t;break;case"\
dangerouslySetInnerHTML":cl=$t;break;default:A(e,st,$t)}}e.push(">");var dt=Array.isArray(zn)?2>zn.length?zn[0]:null:zn;
typeof dt!="function"&&typeof dt!="symbol"&&dt!==null&&dt!==void 0&&e.push((""+dt).replace(Kl,ql)),be(e,cl,zn),e.push(Rn(
"style"));var fl=null}else{var yn=i.styles.get(Un);if((r.styleResources.hasOwnProperty(Fe)?r.styleResources[Fe]:void 0)!==
null){r.styleResources[Fe]=null,yn||(yn={precedence:w(Un),rules:[],hrefs:[],sheets:new Map},i.styles.set(Un,yn));var sl=i.
nonce.style;if(!sl||sl===fu){yn.hrefs.push(w(Fe));var dl=yn.rules,Wn=null,hl=null,er;for(er in t)if(F.call(t,er)){var qr=t[er];
if(qr!=null)switch(er){case"children":Wn=qr;break;case"dangerouslySetInnerHTML":hl=qr}}var ht=Array.isArray(Wn)?2>Wn.length?
Wn[0]:null:Wn;typeof ht!="function"&&typeof ht!="symbol"&&ht!==null&&ht!==void 0&&dl.push((""+ht).replace(Kl,ql)),be(dl,
hl,Wn)}}yn&&a&&a.styles.add(yn),o&&e.push("<!-- -->"),fl=void 0}return fl;case"meta":var su=u.tagScope&1,du=u.tagScope&4;
if(u.insertionMode===4||su||t.itemProp!=null)var gl=Jn(e,t,"meta",u);else o&&e.push("<!-- -->"),gl=du?null:typeof t.charSet==
"string"?Jn(i.charsetChunks,t,"meta",u):t.name==="viewport"?Jn(i.viewportChunks,t,"meta",u):Jn(i.hoistableChunks,t,"meta",
u);return gl;case"listing":case"pre":e.push(G(n));var gt=null,vt=null,pt;for(pt in t)if(F.call(t,pt)){var nr=t[pt];if(nr!=
null)switch(pt){case"children":gt=nr;break;case"dangerouslySetInnerHTML":vt=nr;break;default:A(e,pt,nr)}}if(ye(e,u),e.push(
">"),vt!=null){if(gt!=null)throw Error(v(60));if(typeof vt!="object"||!("__html"in vt))throw Error(v(61));var bn=vt.__html;
bn!=null&&(typeof bn=="string"&&0<bn.length&&bn[0]===`
`?e.push(`
`,bn):e.push(""+bn))}return typeof gt=="string"&&gt[0]===`
`&&e.push(`
`),gt;case"img":var hu=u.tagScope&3,ne=t.src,q=t.srcSet;if(!(t.loading==="lazy"||!ne&&!q||typeof ne!="string"&&ne!=null||
typeof q!="string"&&q!=null||t.fetchPriority==="low"||hu)&&(typeof ne!="string"||ne[4]!==":"||ne[0]!=="d"&&ne[0]!=="D"||
ne[1]!=="a"&&ne[1]!=="A"||ne[2]!=="t"&&ne[2]!=="T"||ne[3]!=="a"&&ne[3]!=="A")&&(typeof q!="string"||q[4]!==":"||q[0]!=="\
d"&&q[0]!=="D"||q[1]!=="a"&&q[1]!=="A"||q[2]!=="t"&&q[2]!=="T"||q[3]!=="a"&&q[3]!=="A")){a!==null&&u.tagScope&64&&(a.suspenseyImages=
!0);var vl=typeof t.sizes=="string"?t.sizes:void 0,Gn=q?q+`
`+(vl||""):ne,jr=i.preloads.images,mn=jr.get(Gn);if(mn)(t.fetchPriority==="high"||10>i.highImagePreloads.size)&&(jr.delete(
Gn),i.highImagePreloads.add(mn));else if(!r.imageResources.hasOwnProperty(Gn)){r.imageResources[Gn]=Pe;var $r=t.crossOrigin,
pl=typeof $r=="string"?$r==="use-credentials"?$r:"":void 0,Tn=i.headers,ei;Tn&&0<Tn.remainingCapacity&&typeof t.srcSet!=
"string"&&(t.fetchPriority==="high"||500>Tn.highImagePreloads.length)&&(ei=yr(ne,"image",{imageSrcSet:t.srcSet,imageSizes:t.
sizes,crossOrigin:pl,integrity:t.integrity,nonce:t.nonce,type:t.type,fetchPriority:t.fetchPriority,referrerPolicy:t.referrerPolicy}),
0<=(Tn.remainingCapacity-=ei.length+2))?(i.resets.image[Gn]=Pe,Tn.highImagePreloads&&(Tn.highImagePreloads+=", "),Tn.highImagePreloads+=
ei):(mn=[],re(mn,{rel:"preload",as:"image",href:q?void 0:ne,imageSrcSet:q,imageSizes:vl,crossOrigin:pl,integrity:t.integrity,
type:t.type,fetchPriority:t.fetchPriority,referrerPolicy:t.referrerPolicy}),t.fetchPriority==="high"||10>i.highImagePreloads.
size?i.highImagePreloads.add(mn):(i.bulkPreloads.add(mn),jr.set(Gn,mn)))}}return Jn(e,t,"img",u);case"base":case"area":case"\
br":case"col":case"embed":case"hr":case"keygen":case"param":case"source":case"track":case"wbr":return Jn(e,t,n,u);case"a\
nnotation-xml":case"color-profile":case"font-face":case"font-face-src":case"font-face-uri":case"font-face-format":case"f\
ont-face-name":case"missing-glyph":break;case"head":if(2>u.insertionMode){var ni=l||i.preamble;if(ni.headChunks)throw Error(
v(545,"`<head>`"));l!==null&&e.push("<!--head-->"),ni.headChunks=[];var yl=hi(ni.headChunks,t,"head",u)}else yl=ir(e,t,"\
head",u);return yl;case"body":if(2>u.insertionMode){var ti=l||i.preamble;if(ti.bodyChunks)throw Error(v(545,"`<body>`"));
l!==null&&e.push("<!--body-->"),ti.bodyChunks=[];var bl=hi(ti.bodyChunks,t,"body",u)}else bl=ir(e,t,"body",u);return bl;case"\
html":if(u.insertionMode===0){var ri=l||i.preamble;if(ri.htmlChunks)throw Error(v(545,"`<html>`"));l!==null&&e.push("<!-\
-html-->"),ri.htmlChunks=[""];var ml=hi(ri.htmlChunks,t,"html",u)}else ml=ir(e,t,"html",u);return ml;default:if(n.indexOf(
"-")!==-1){e.push(G(n));var ii=null,Tl=null,Xn;for(Xn in t)if(F.call(t,Xn)){var Ae=t[Xn];if(Ae!=null){var wl=Xn;switch(Xn){case"\
children":ii=Ae;break;case"dangerouslySetInnerHTML":Tl=Ae;break;case"style":Ma(e,Ae);break;case"suppressContentEditableW\
arning":case"suppressHydrationWarning":case"ref":break;case"className":wl="class";default:if(Oi(Xn)&&typeof Ae!="functio\
n"&&typeof Ae!="symbol"&&Ae!==!1){if(Ae===!0)Ae="";else if(typeof Ae=="object")continue;e.push(" ",wl,'="',w(Ae),'"')}}}}
return ye(e,u),e.push(">"),be(e,Tl,ii),ii}}return ir(e,t,n,u)}var ea=new Map;function Rn(e){var n=ea.get(e);return n===void 0&&
(n="</"+e+">",ea.set(e,n)),n}function na(e,n){e=e.preamble,e.htmlChunks===null&&n.htmlChunks&&(e.htmlChunks=n.htmlChunks),
e.headChunks===null&&n.headChunks&&(e.headChunks=n.headChunks),e.bodyChunks===null&&n.bodyChunks&&(e.bodyChunks=n.bodyChunks)}
function Ha(e,n){n=n.bootstrapChunks;for(var t=0;t<n.length-1;t++)e.push(n[t]);return t<n.length?(t=n[t],n.length=0,e.push(
t)):!0}function ta(e,n,t){if(e.push('<!--$?--><template id="'),t===null)throw Error(v(395));return e.push(n.boundaryPrefix),
n=t.toString(16),e.push(n),e.push('"></template>')}function ic(e,n,t,r){switch(t.insertionMode){case 0:case 1:case 3:case 2:
return e.push('<div hidden id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.push('">');case 4:return e.push('\
<svg aria-hidden="true" style="display:none" id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.push('">');case 5:
return e.push('<math aria-hidden="true" style="display:none" id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.
push('">');case 6:return e.push('<table hidden id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.push('">');case 7:
return e.push('<table hidden><tbody id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.push('">');case 8:return e.
push('<table hidden><tr id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.push('">');case 9:return e.push('<ta\
ble hidden><colgroup id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.push('">');default:throw Error(v(397))}}
function lc(e,n){switch(n.insertionMode){case 0:case 1:case 3:case 2:return e.push("</div>");case 4:return e.push("</svg\
>");case 5:return e.push("</math>");case 6:return e.push("</table>");case 7:return e.push("</tbody></table>");case 8:return e.
push("</tr></table>");case 9:return e.push("</colgroup></table>");default:throw Error(v(397))}}var ac=/[<\u2028\u2029]/g;
function oc(e){return JSON.stringify(e).replace(ac,function(n){switch(n){case"<":return"\\u003c";case"\u2028":return"\\u2\
028";case"\u2029":return"\\u2029";default:throw Error("escapeJSStringsForInstructionScripts encountered a match it does \
not know how to replace. this means the match regex and the replacement characters are no longer in sync. This is a bug \
in React")}})}var uc=/[&><\u2028\u2029]/g;function Tt(e){return JSON.stringify(e).replace(uc,function(n){switch(n){case"\
&":return"\\u0026";case">":return"\\u003e";case"<":return"\\u003c";case"\u2028":return"\\u2028";case"\u2029":return"\\u20\
29";default:throw Error("escapeJSObjectForInstructionScripts encountered a match it does not know how to replace. this m\
eans the match regex and the replacement characters are no longer in sync. This is a bug in React")}})}var pr=!1,Ti=!0;function cc(e){
var n=e.rules,t=e.hrefs,r=0;if(t.length){for(this.push(qn.startInlineStyle),this.push(' media="not all" data-precedence=\
"'),this.push(e.precedence),this.push('" data-href="');r<t.length-1;r++)this.push(t[r]),this.push(" ");for(this.push(t[r]),
this.push('">'),r=0;r<n.length;r++)this.push(n[r]);Ti=this.push("</style>"),pr=!0,n.length=0,t.length=0}}function fc(e){
return e.state!==2?pr=!0:!1}function Ba(e,n,t){return pr=!1,Ti=!0,qn=t,n.styles.forEach(cc,e),qn=null,n.stylesheets.forEach(
fc),pr&&(t.stylesToHoist=!0),Ti}function Ne(e){for(var n=0;n<e.length;n++)this.push(e[n]);e.length=0}var tn=[];function sc(e){
re(tn,e.props);for(var n=0;n<tn.length;n++)this.push(tn[n]);tn.length=0,e.state=2}function dc(e){var n=0<e.sheets.size;e.
sheets.forEach(sc,this),e.sheets.clear();var t=e.rules,r=e.hrefs;if(!n||r.length){if(this.push(qn.startInlineStyle),this.
push(' data-precedence="'),this.push(e.precedence),e=0,r.length){for(this.push('" data-href="');e<r.length-1;e++)this.push(
r[e]),this.push(" ");this.push(r[e])}for(this.push('">'),e=0;e<t.length;e++)this.push(t[e]);this.push("</style>"),t.length=
0,r.length=0}}function hc(e){if(e.state===0){e.state=1;var n=e.props;for(re(tn,{rel:"preload",as:"style",href:e.props.href,
crossOrigin:n.crossOrigin,fetchPriority:n.fetchPriority,integrity:n.integrity,media:n.media,hrefLang:n.hrefLang,referrerPolicy:n.
referrerPolicy}),e=0;e<tn.length;e++)this.push(tn[e]);tn.length=0}}function gc(e){e.sheets.forEach(hc,this),e.sheets.clear()}
function ur(e,n){(n.instructions&32)===0&&(n.instructions|=32,e.push(' id="',w("_"+n.idPrefix+"R_"),'"'))}function vc(e,n){
e.push("[");var t="[";n.stylesheets.forEach(function(r){if(r.state!==2)if(r.state===3)e.push(t),r=Tt(""+r.props.href),e.
push(r),e.push("]"),t=",[";else{e.push(t);var i=r.props["data-precedence"],l=r.props,a=Pt(""+r.props.href);a=Tt(a),e.push(
a),i=""+i,e.push(","),i=Tt(i),e.push(i);for(var u in l)if(F.call(l,u)&&(i=l[u],i!=null))switch(u){case"href":case"rel":case"\
precedence":case"data-precedence":break;case"children":case"dangerouslySetInnerHTML":throw Error(v(399,"link"));default:
pc(e,u,i)}e.push("]"),t=",[",r.state=3}}),e.push("]")}function pc(e,n,t){var r=n.toLowerCase();switch(typeof t){case"fun\
ction":case"symbol":return}switch(n){case"innerHTML":case"dangerouslySetInnerHTML":case"suppressContentEditableWarning":case"\
suppressHydrationWarning":case"style":case"ref":return;case"className":r="class",n=""+t;break;case"hidden":if(t===!1)return;
n="";break;case"src":case"href":t=Pt(t),n=""+t;break;default:if(2<n.length&&(n[0]==="o"||n[0]==="O")&&(n[1]==="n"||n[1]===
"N")||!Oi(n))return;n=""+t}e.push(","),r=Tt(r),e.push(r),e.push(","),r=Tt(n),e.push(r)}function wi(){return{styles:new Set,
stylesheets:new Set,suspenseyImages:!1}}function yc(e){var n=$||null;if(n){var t=n.resumableState,r=n.renderState;if(typeof e==
"string"&&e){if(!t.dnsResources.hasOwnProperty(e)){t.dnsResources[e]=null,t=r.headers;var i,l;(l=t&&0<t.remainingCapacity)&&
(l=(i="<"+(""+e).replace(Mi,Ii)+">; rel=dns-prefetch",0<=(t.remainingCapacity-=i.length+2))),l?(r.resets.dns[e]=null,t.preconnects&&
(t.preconnects+=", "),t.preconnects+=i):(i=[],re(i,{href:e,rel:"dns-prefetch"}),r.preconnects.add(i))}_n(n)}}else Ye.D(e)}
function bc(e,n){var t=$||null;if(t){var r=t.resumableState,i=t.renderState;if(typeof e=="string"&&e){var l=n==="use-cre\
dentials"?"credentials":typeof n=="string"?"anonymous":"default";if(!r.connectResources[l].hasOwnProperty(e)){r.connectResources[l][e]=
null,r=i.headers;var a,u;if(u=r&&0<r.remainingCapacity){if(u="<"+(""+e).replace(Mi,Ii)+">; rel=preconnect",typeof n=="st\
ring"){var o=(""+n).replace(Pi,Ei);u+='; crossorigin="'+o+'"'}u=(a=u,0<=(r.remainingCapacity-=a.length+2))}u?(i.resets.connect[l][e]=
null,r.preconnects&&(r.preconnects+=", "),r.preconnects+=a):(l=[],re(l,{rel:"preconnect",href:e,crossOrigin:n}),i.preconnects.
add(l))}_n(t)}}else Ye.C(e,n)}function mc(e,n,t){var r=$||null;if(r){var i=r.resumableState,l=r.renderState;if(n&&e){switch(n){case"\
image":if(t)var a=t.imageSrcSet,u=t.imageSizes,o=t.fetchPriority;var c=a?a+`
`+(u||""):e;if(i.imageResources.hasOwnProperty(c))return;i.imageResources[c]=Pe,i=l.headers;var f;i&&0<i.remainingCapacity&&
typeof a!="string"&&o==="high"&&(f=yr(e,n,t),0<=(i.remainingCapacity-=f.length+2))?(l.resets.image[c]=Pe,i.highImagePreloads&&
(i.highImagePreloads+=", "),i.highImagePreloads+=f):(i=[],re(i,ge({rel:"preload",href:a?void 0:e,as:n},t)),o==="high"?l.
highImagePreloads.add(i):(l.bulkPreloads.add(i),l.preloads.images.set(c,i)));break;case"style":if(i.styleResources.hasOwnProperty(
e))return;a=[],re(a,ge({rel:"preload",href:e,as:n},t)),i.styleResources[e]=!t||typeof t.crossOrigin!="string"&&typeof t.
integrity!="string"?Pe:[t.crossOrigin,t.integrity],l.preloads.stylesheets.set(e,a),l.bulkPreloads.add(a);break;case"scri\
pt":if(i.scriptResources.hasOwnProperty(e))return;a=[],l.preloads.scripts.set(e,a),l.bulkPreloads.add(a),re(a,ge({rel:"p\
reload",href:e,as:n},t)),i.scriptResources[e]=!t||typeof t.crossOrigin!="string"&&typeof t.integrity!="string"?Pe:[t.crossOrigin,
t.integrity];break;default:if(i.unknownResources.hasOwnProperty(n)){if(a=i.unknownResources[n],a.hasOwnProperty(e))return}else
a={},i.unknownResources[n]=a;a[e]=Pe,(i=l.headers)&&0<i.remainingCapacity&&n==="font"&&(c=yr(e,n,t),0<=(i.remainingCapacity-=
c.length+2))?(l.resets.font[e]=Pe,i.fontPreloads&&(i.fontPreloads+=", "),i.fontPreloads+=c):(i=[],e=ge({rel:"preload",href:e,
as:n},t),re(i,e),n)==="font"?l.fontPreloads.add(i):l.bulkPreloads.add(i)}_n(r)}}else Ye.L(e,n,t)}function Tc(e,n){var t=$||
null;if(t){var r=t.resumableState,i=t.renderState;if(e){var l=n&&typeof n.as=="string"?n.as:"script";switch(l){case"scri\
pt":if(r.moduleScriptResources.hasOwnProperty(e))return;l=[],r.moduleScriptResources[e]=!n||typeof n.crossOrigin!="strin\
g"&&typeof n.integrity!="string"?Pe:[n.crossOrigin,n.integrity],i.preloads.moduleScripts.set(e,l);break;default:if(r.moduleUnknownResources.
hasOwnProperty(l)){var a=r.moduleUnknownResources[l];if(a.hasOwnProperty(e))return}else a={},r.moduleUnknownResources[l]=
a;l=[],a[e]=Pe}re(l,ge({rel:"modulepreload",href:e},n)),i.bulkPreloads.add(l),_n(t)}}else Ye.m(e,n)}function wc(e,n,t){var r=$||
null;if(r){var i=r.resumableState,l=r.renderState;if(e){n=n||"default";var a=l.styles.get(n),u=i.styleResources.hasOwnProperty(
e)?i.styleResources[e]:void 0;u!==null&&(i.styleResources[e]=null,a||(a={precedence:w(n),rules:[],hrefs:[],sheets:new Map},
l.styles.set(n,a)),n={state:0,props:ge({rel:"stylesheet",href:e,"data-precedence":n},t)},u&&(u.length===2&&Et(n.props,u),
(l=l.preloads.stylesheets.get(e))&&0<l.length?l.length=0:n.state=1),a.sheets.set(e,n),_n(r))}}else Ye.S(e,n,t)}function Pc(e,n){
var t=$||null;if(t){var r=t.resumableState,i=t.renderState;if(e){var l=r.scriptResources.hasOwnProperty(e)?r.scriptResources[e]:
void 0;l!==null&&(r.scriptResources[e]=null,n=ge({src:e,async:!0},n),l&&(l.length===2&&Et(n,l),e=i.preloads.scripts.get(
e))&&(e.length=0),e=[],i.scripts.add(e),vr(e,n),_n(t))}}else Ye.X(e,n)}function Ec(e,n){var t=$||null;if(t){var r=t.resumableState,
i=t.renderState;if(e){var l=r.moduleScriptResources.hasOwnProperty(e)?r.moduleScriptResources[e]:void 0;l!==null&&(r.moduleScriptResources[e]=
null,n=ge({src:e,type:"module",async:!0},n),l&&(l.length===2&&Et(n,l),e=i.preloads.moduleScripts.get(e))&&(e.length=0),e=
[],i.scripts.add(e),vr(e,n),_n(t))}}else Ye.M(e,n)}function Et(e,n){e.crossOrigin==null&&(e.crossOrigin=n[0]),e.integrity==
null&&(e.integrity=n[1])}function yr(e,n,t){e=(""+e).replace(Mi,Ii),n=(""+n).replace(Pi,Ei),n="<"+e+'>; rel=preload; as=\
"'+n+'"';for(var r in t)F.call(t,r)&&(e=t[r],typeof e=="string"&&(n+="; "+r.toLowerCase()+'="'+(""+e).replace(Pi,Ei)+'"'));
return n}var Mi=/[<>\r\n]/g;function Ii(e){switch(e){case"<":return"%3C";case">":return"%3E";case`
`:return"%0A";case"\r":return"%0D";default:throw Error("escapeLinkHrefForHeaderContextReplacer encountered a match it do\
es not know how to replace. this means the match regex and the replacement characters are no longer in sync. This is a b\
ug in React")}}var Pi=/["';,\r\n]/g;function Ei(e){switch(e){case'"':return"%22";case"'":return"%27";case";":return"%3B";case"\
,":return"%2C";case`
`:return"%0A";case"\r":return"%0D";default:throw Error("escapeStringForLinkHeaderQuotedParamValueContextReplacer encount\
ered a match it does not know how to replace. this means the match regex and the replacement characters are no longer in\
 sync. This is a bug in React")}}function Rc(e){this.styles.add(e)}function xc(e){this.stylesheets.add(e)}function jn(e,n){
n.styles.forEach(Rc,e),n.stylesheets.forEach(xc,e),n.suspenseyImages&&(e.suspenseyImages=!0)}function Cc(e,n){var t=e.idPrefix,
r=[],i=e.bootstrapScriptContent,l=e.bootstrapScripts,a=e.bootstrapModules;i!==void 0&&(r.push("<script"),ur(r,e),r.push(
">",(""+i).replace(Sa,_a),"</script>")),i=t+"P:";var u=t+"S:";t+="B:";var o=new Set,c=new Set,f=new Set,s=new Map,h=new Set,
d=new Set,g=new Set,b={images:new Map,stylesheets:new Map,scripts:new Map,moduleScripts:new Map};if(l!==void 0)for(var N=0;N<
l.length;N++){var R=l[N],S,U=void 0,D=void 0,T={rel:"preload",as:"script",fetchPriority:"low",nonce:void 0};typeof R=="s\
tring"?T.href=S=R:(T.href=S=R.src,T.integrity=D=typeof R.integrity=="string"?R.integrity:void 0,T.crossOrigin=U=typeof R==
"string"||R.crossOrigin==null?void 0:R.crossOrigin==="use-credentials"?"use-credentials":""),R=e;var C=S;R.scriptResources[C]=
null,R.moduleScriptResources[C]=null,R=[],re(R,T),h.add(R),r.push('<script src="',w(S),'"'),typeof D=="string"&&r.push('\
 integrity="',w(D),'"'),typeof U=="string"&&r.push(' crossorigin="',w(U),'"'),ur(r,e),r.push(' async=""></script>')}if(a!==
void 0)for(l=0;l<a.length;l++)T=a[l],U=S=void 0,D={rel:"modulepreload",fetchPriority:"low",nonce:void 0},typeof T=="stri\
ng"?D.href=N=T:(D.href=N=T.src,D.integrity=U=typeof T.integrity=="string"?T.integrity:void 0,D.crossOrigin=S=typeof T=="\
string"||T.crossOrigin==null?void 0:T.crossOrigin==="use-credentials"?"use-credentials":""),T=e,R=N,T.scriptResources[R]=
null,T.moduleScriptResources[R]=null,T=[],re(T,D),h.add(T),r.push('<script type="module" src="',w(N),'"'),typeof U=="str\
ing"&&r.push(' integrity="',w(U),'"'),typeof S=="string"&&r.push(' crossorigin="',w(S),'"'),ur(r,e),r.push(' async=""></\
script>');return{placeholderPrefix:i,segmentPrefix:u,boundaryPrefix:t,startInlineScript:"<script",startInlineStyle:"<sty\
le",preamble:{htmlChunks:null,headChunks:null,bodyChunks:null},externalRuntimeScript:null,bootstrapChunks:r,importMapChunks:[],
onHeaders:void 0,headers:null,resets:{font:{},dns:{},connect:{default:{},anonymous:{},credentials:{}},image:{},style:{}},
charsetChunks:[],viewportChunks:[],hoistableChunks:[],preconnects:o,fontPreloads:c,highImagePreloads:f,styles:s,bootstrapScripts:h,
scripts:d,bulkPreloads:g,preloads:b,nonce:{script:void 0,style:void 0},stylesToHoist:!1,generateStaticMarkup:n}}function ra(e,n,t,r){
return t.generateStaticMarkup?(e.push(w(n)),!1):(n===""?e=r:(r&&e.push("<!-- -->"),e.push(w(n)),e=!0),e)}function wt(e,n,t,r){
n.generateStaticMarkup||t&&r&&e.push("<!-- -->")}var Ac=Function.prototype.bind,Nc=Symbol.for("react.client.reference");
function br(e){if(e==null)return null;if(typeof e=="function")return e.$$typeof===Nc?null:e.displayName||e.name||null;if(typeof e==
"string")return e;switch(e){case Pa:return"Fragment";case Ra:return"Profiler";case Ea:return"StrictMode";case Sr:return"\
Suspense";case Si:return"SuspenseList";case Ca:return"Activity";case ki:return"ViewTransition"}if(typeof e=="object")switch(e.
$$typeof){case wa:return"Portal";case Nr:return e.displayName||"Context";case xa:return(e._context.displayName||"Context")+
".Consumer";case Ni:var n=e.render;return e=e.displayName,e||(e=n.displayName||n.name||"",e=e!==""?"ForwardRef("+e+")":"\
ForwardRef"),e;case _i:return n=e.displayName||null,n!==null?n:br(e.type)||"Memo";case _r:n=e._payload,e=e._init;try{return br(
e(n))}catch{}}return null}var ia={},En=null;function Or(e,n){if(e!==n){e.context._currentValue2=e.parentValue,e=e.parent;
var t=n.parent;if(e===null){if(t!==null)throw Error(v(401))}else{if(t===null)throw Error(v(401));Or(e,t)}n.context._currentValue2=
n.value}}function Ya(e){e.context._currentValue2=e.parentValue,e=e.parent,e!==null&&Ya(e)}function Ua(e){var n=e.parent;
n!==null&&Ua(n),e.context._currentValue2=e.value}function za(e,n){if(e.context._currentValue2=e.parentValue,e=e.parent,e===
null)throw Error(v(402));e.depth===n.depth?Or(e,n):za(e,n)}function Wa(e,n){var t=n.parent;if(t===null)throw Error(v(402));
e.depth===t.depth?Or(e,t):Wa(e,t),n.context._currentValue2=n.value}function nn(e){var n=En;n!==e&&(n===null?Ua(e):e===null?
Ya(n):n.depth===e.depth?Or(n,e):n.depth>e.depth?za(n,e):Wa(n,e),En=e)}var la={enqueueSetState:function(e,n){e=e._reactInternals,
e.queue!==null&&e.queue.push(n)},enqueueReplaceState:function(e,n){e=e._reactInternals,e.replace=!0,e.queue=[n]},enqueueForceUpdate:function(){}},
Sc={id:1,overflow:""};function Ga(e){var n=e.overflow;return e=e.id,(e&~(1<<32-cr(e)-1)).toString(32)+n}function rn(e,n,t){
var r=e.id;e=e.overflow;var i=32-cr(r)-1;r&=~(1<<i),t+=1;var l=32-cr(n)+i;if(30<l){var a=i-i%5;return l=(r&(1<<a)-1).toString(
32),r>>=a,i-=a,{id:1<<32-cr(n)+i|t<<i|r,overflow:l+e}}return{id:1<<l|t<<i|r,overflow:e}}var cr=Math.clz32?Math.clz32:Oc,
_c=Math.log,kc=Math.LN2;function Oc(e){return e>>>=0,e===0?32:31-(_c(e)/kc|0)|0}function he(){}var ce=Error(v(460));function Mc(e,n,t){
switch(t=e[t],t===void 0?e.push(n):t!==n&&(n.then(he,he),n=t),n.status){case"fulfilled":return n.value;case"rejected":throw e=
n.reason,e===void 0&&!("reason"in n)?Error(v(600)):e;default:switch(typeof n.status=="string"?n.then(he,he):(e=n,e.status=
"pending",e.then(function(r){if(n.status==="pending"){var i=n;i.status="fulfilled",i.value=r}},function(r){if(n.status===
"pending"){var i=n;i.status="rejected",i.reason=r}})),n.status){case"fulfilled":return n.value;case"rejected":throw n.reason}
throw fr=n,ce}}var fr=null;function mr(){if(fr===null)throw Error(v(459));var e=fr;return fr=null,e}function Ic(e,n){return e===
n&&(e!==0||1/e===1/n)||e!==e&&n!==n}var Fc=typeof Object.is=="function"?Object.is:Ic,Ue=null,Fi=null,Li=null,Di=null,sr=null,
O=null,bt=!1,Tr=!1,Rt=0,xt=0,Ct=-1,wr=0,Kn=null;function Xa(e){if(e=e._reason,typeof e=="function")try{var n=e()}catch{n=
"The reason for browser-only rendering could not be determined because its initializer threw."}else n=e;return n=Error(v(
603),e===void 0?void 0:{cause:n}),Object.defineProperty(n,kr,{value:!0}),n}function Mr(e){return typeof e!="object"||e===
null?!1:e[kr]===!0}function Hi(e){var n=Error(v(604),F.call(e,"cause")?{cause:e.cause}:void 0);if(e=e.stack,e!==void 0){
var t=e.indexOf(`
`);n.stack=n.name+": "+n.message+(t===-1?"":e.slice(t))}else n.stack=void 0;return n}var ln=null,Ir=0;function Be(){if(Ue===
null)throw Error(v(321));return Ue}function aa(){if(0<Ir)throw Error(v(312));return{memoizedState:null,queue:null,next:null}}
function Bi(){return O===null?sr===null?(bt=!1,sr=O=aa()):(bt=!0,O=sr):O.next===null?(bt=!1,O=O.next=aa()):(bt=!0,O=O.next),
O}function an(){var e=Kn;return Kn=null,e}function At(){Di=Li=Fi=Ue=null,Tr=!1,sr=null,Ir=0,O=ln=null}function Za(e,n){return typeof n==
"function"?n(e):n}function oa(e,n,t){if(Ue=Be(),O=Bi(),bt){var r=O.queue;if(n=r.dispatch,ln!==null&&(t=ln.get(r),t!==void 0)){
ln.delete(r),r=O.memoizedState;do r=e(r,t.action),t=t.next;while(t!==null);return O.memoizedState=r,[r,n]}return[O.memoizedState,
n]}return e=e===Za?typeof n=="function"?n():n:t!==void 0?t(n):n,O.memoizedState=e,e=O.queue={last:null,dispatch:null},e=
e.dispatch=Lc.bind(null,Ue,e),[O.memoizedState,e]}function ua(e,n){if(Ue=Be(),O=Bi(),n=n===void 0?null:n,O!==null){var t=O.
memoizedState;if(t!==null&&n!==null){var r=t[1];e:if(r===null)r=!1;else{for(var i=0;i<r.length&&i<n.length;i++)if(!Fc(n[i],
r[i])){r=!1;break e}r=!0}if(r)return t[0]}}return e=e(),O.memoizedState=[e,n],e}function Lc(e,n,t){if(25<=Ir)throw Error(
v(301));if(e===Ue)if(Tr=!0,e={action:t,next:null},ln===null&&(ln=new Map),t=ln.get(n),t===void 0)ln.set(n,e);else{for(n=
t;n.next!==null;)n=n.next;n.next=e}}function Dc(){throw Error(v(440))}function Hc(){throw Error(v(394))}function Bc(){throw Error(
v(479))}function ca(e,n,t){Be();var r=xt++,i=Li;if(typeof e.$$FORM_ACTION=="function"){var l=null,a=Di;i=i.formState;var u=e.
$$IS_SIGNATURE_EQUAL;if(i!==null&&typeof u=="function"){var o=i[1];u.call(e,i[2],i[3])&&(l=t!==void 0?"p"+t:"k"+Gl(JSON.
stringify([a,null,r]),0),o===l&&(Ct=r,n=i[0]))}var c=e.bind(null,n);return e=function(s){c(s)},typeof c.$$FORM_ACTION=="\
function"&&(e.$$FORM_ACTION=function(s){s=c.$$FORM_ACTION(s),t!==void 0&&(t+="",s.action=t);var h=s.data;return h&&(l===
null&&(l=t!==void 0?"p"+t:"k"+Gl(JSON.stringify([a,null,r]),0)),h.append("$ACTION_KEY",l)),s}),[n,e,!1]}var f=e.bind(null,
n);return[n,function(s){f(s)},!1]}function Va(e){var n=wr;return wr+=1,Kn===null&&(Kn=[]),Mc(Kn,e,n)}function Yc(){throw Error(
v(393))}var fa={readContext:function(e){return e._currentValue2},use:function(e){if(e!==null&&typeof e=="object"){if(typeof e.
then=="function")return Va(e);if(e.$$typeof===kr)throw Xa(e);if(e.$$typeof===Nr)return e._currentValue2}throw Error(v(438,
String(e)))},useContext:function(e){return Be(),e._currentValue2},useMemo:ua,useReducer:oa,useRef:function(e){Ue=Be(),O=
Bi();var n=O.memoizedState;return n===null?(e={current:e},O.memoizedState=e):n},useState:function(e){return oa(Za,e)},useInsertionEffect:he,
useLayoutEffect:he,useCallback:function(e,n){return ua(function(){return e},n)},useImperativeHandle:he,useEffect:he,useDebugValue:he,
useDeferredValue:function(e,n){return Be(),n!==void 0?n:e},useTransition:function(){return Be(),[!1,Hc]},useId:function(){
var e=Ga(Fi.treeContext),n=dr;if(n===null)throw Error(v(404));var t=Rt++;return Oa(n,e,t)},useSyncExternalStore:function(e,n,t){
if(t===void 0)throw Error(v(407));return t()},useOptimistic:function(e){return Be(),[e,Bc]},useActionState:ca,useFormState:ca,
useHostTransitionStatus:function(){return Be(),$u},useMemoCache:function(e){for(var n=Array(e),t=0;t<e;t++)n[t]=Gu;return n},
useCacheRefresh:function(){return Yc},useEffectEvent:function(){return Dc}},dr=null,Uc={getCacheForType:function(){throw Error(
v(248))},cacheSignal:function(){throw Error(v(248))}},gi,sa;function Pn(e){if(gi===void 0)try{throw Error()}catch(t){var n=t.
stack.trim().match(/\n( *(at )?)/);gi=n&&n[1]||"",sa=-1<t.stack.indexOf(`
    at`)?" (<anonymous>)":-1<t.stack.indexOf("@")?"@unknown:0:0":""}return`
`+gi+e+sa}var vi=!1;function lr(e,n){if(!e||vi)return"";vi=!0;var t=Error.prepareStackTrace;Error.prepareStackTrace=void 0;
try{var r={DetermineComponentFrameRoot:function(){try{if(n){var s=function(){throw Error()};if(Object.defineProperty(s.prototype,
"props",{set:function(){throw Error()}}),typeof Reflect=="object"&&Reflect.construct){try{Reflect.construct(s,[])}catch(g){
var h=g}Reflect.construct(e,[],s)}else{try{s.call()}catch(g){h=g}s=!1;try{var d=Object.getOwnPropertyDescriptor(e.prototype,
"props");Object.defineProperty(e.prototype,"props",{configurable:!0,set:function(){throw Error()}}),s=!0,new e}finally{s&&
(d!==void 0?Object.defineProperty(e.prototype,"props",d):delete e.prototype.props)}}}else{try{throw Error()}catch(g){h=g}
(s=e())&&typeof s.catch=="function"&&s.catch(function(){})}}catch(g){if(g&&h&&typeof g.stack=="string")return[g.stack,h.
stack]}return[null,null]}};r.DetermineComponentFrameRoot.displayName="DetermineComponentFrameRoot";var i=Object.getOwnPropertyDescriptor(
r.DetermineComponentFrameRoot,"name");i&&i.configurable&&Object.defineProperty(r.DetermineComponentFrameRoot,"name",{value:"\
DetermineComponentFrameRoot"});var l=r.DetermineComponentFrameRoot(),a=l[0],u=l[1];if(a&&u){var o=a.split(`
`),c=u.split(`
`);for(i=r=0;r<o.length&&!o[r].includes("DetermineComponentFrameRoot");)r++;for(;i<c.length&&!c[i].includes("DetermineCo\
mponentFrameRoot");)i++;if(r===o.length||i===c.length)for(r=o.length-1,i=c.length-1;1<=r&&0<=i&&o[r]!==c[i];)i--;for(;1<=
r&&0<=i;r--,i--)if(o[r]!==c[i]){if(r!==1||i!==1)do if(r--,i--,0>i||o[r]!==c[i]){var f=`
`+o[r].replace(" at new "," at ");return e.displayName&&f.includes("<anonymous>")&&(f=f.replace("<anonymous>",e.displayName)),
f}while(1<=r&&0<=i);break}}}finally{vi=!1,Error.prepareStackTrace=t}return(t=e?e.displayName||e.name:"")?Pn(t):""}function Qa(e){
if(typeof e=="string")return Pn(e);if(typeof e=="function")return e.prototype&&e.prototype.isReactComponent?lr(e,!0):lr(
e,!1);if(typeof e=="object"&&e!==null){switch(e.$$typeof){case Ni:return lr(e.render,!1);case _i:return lr(e.type,!1);case _r:
var n=e,t=n._payload;n=n._init;try{e=n(t)}catch{return Pn("Lazy")}return Qa(e)}if(typeof e.name=="string"){e:{t=e.name,n=
e.env;var r=e.debugLocation;if(r!=null&&(e=Error.prepareStackTrace,Error.prepareStackTrace=void 0,r=r.stack,Error.prepareStackTrace=
e,r.startsWith(`Error: react-stack-top-frame
`)&&(r=r.slice(29)),e=r.indexOf(`
`),e!==-1&&(r=r.slice(e+1)),e=r.indexOf("react_stack_bottom_frame"),e!==-1&&(e=r.lastIndexOf(`
`,e)),e=e!==-1?r=r.slice(0,e):"",r=e.lastIndexOf(`
`),e=r===-1?e:e.slice(r+1),e.indexOf(t)!==-1)){t=`
`+e;break e}t=Pn(t+(n?" ["+n+"]":""))}return t}}switch(e){case Si:return Pn("SuspenseList");case Sr:return Pn("Suspense");case ki:
return Pn("ViewTransition")}return""}function $n(e,n){return(500<n.byteSize||n.defer)&&n.preamble===null}function zc(e){
if(typeof e=="object"&&e!==null&&typeof e.environmentName=="string"){var n=e.environmentName;e=[e].slice(0),typeof e[0]==
"string"?e.splice(0,1,"[%s] "+e[0]," "+n+" "):e.splice(0,0,"[%s]"," "+n+" "),e.unshift(console),n=Ac.apply(console.error,
e),n()}else console.error(e);return null}function Wc(e,n,t,r,i,l,a,u,o,c,f){var s=new Set;this.destination=null,this.flushScheduled=
!1,this.resumableState=e,this.renderState=n,this.rootFormatContext=t,this.progressiveChunkSize=r===void 0?12800:r,this.status=
10,this.fatalError=null,this.aborted=!1,this.pendingRootTasks=this.allPendingTasks=this.nextSegmentId=0,this.completedPreambleSegments=
this.completedRootSegment=null,this.byteSize=0,this.abortableTasks=s,this.pingedTasks=[],this.currentTask=null,this.clientRenderedBoundaries=
[],this.completedBoundaries=[],this.partialBoundaries=[],this.postponedState=this.trackedPostpones=null,this.onError=i===
void 0?zc:i,this.onBrowserBailout=l===void 0?he:l,this.onAllReady=a===void 0?he:a,this.onShellReady=u===void 0?he:u,this.
onShellError=o===void 0?he:o,this.onFatalError=c===void 0?he:c,this.renderLifetimeController=null,this.formState=f===void 0?
null:f}function Gc(e,n,t,r,i,l,a,u,o,c,f,s){return n=new Wc(n,t,r,i,l,a,u,o,c,f,s),t=xn(n,0,null,r,!1,!1),t.parentFlushed=
!0,e=Er(n,null,e,-1,null,t,null,null,n.abortableTasks,null,r,null,Sc,null,null),Nt(e),n.pingedTasks.push(e),n}var $=null;
function Pr(e,n){e.pingedTasks.push(n),e.pingedTasks.length===1&&(e.flushScheduled=e.destination!==null,qa(e))}function Yi(e,n,t,r,i){
return t={status:0,rootSegmentID:-1,parentFlushed:!1,pendingTasks:0,row:n,completedSegments:[],byteSize:0,defer:i,fallbackAbortableTasks:t,
errorDigest:null,contentState:wi(),fallbackState:wi(),preamble:r,tracked:null},n!==null&&(n.pendingTasks++,r=n.boundaries,
r!==null&&(e.allPendingTasks++,t.pendingTasks++,r.push(t)),e=n.inheritedHoistables,e!==null&&jn(t.contentState,e)),t}function Er(e,n,t,r,i,l,a,u,o,c,f,s,h,d,g){
e.allPendingTasks++,i===null?e.pendingRootTasks++:i.pendingTasks++,d!==null&&d.pendingTasks++;var b={replay:null,node:t,
childIndex:r,ping:{resolve:function(){return Pr(e,b)},reject:function(N){e.aborted?b.abortSet.delete(b)&&Nn(b,e,N):Pr(e,
b)}},blockedBoundary:i,blockedSegment:l,blockedPreamble:a,hoistableState:u,abortSet:o,keyPath:c,formatContext:f,context:s,
treeContext:h,row:d,componentStack:g,thenableState:n};return o.add(b),b}function Ja(e,n,t,r,i,l,a,u,o,c,f,s,h,d){e.allPendingTasks++,
l===null?e.pendingRootTasks++:l.pendingTasks++,h!==null&&h.pendingTasks++,t.pendingTasks++;var g={replay:t,node:r,childIndex:i,
ping:{resolve:function(){return Pr(e,g)},reject:function(b){e.aborted?g.abortSet.delete(g)&&Nn(g,e,b):Pr(e,g)}},blockedBoundary:l,
blockedSegment:null,blockedPreamble:null,hoistableState:a,abortSet:u,keyPath:o,formatContext:c,context:f,treeContext:s,row:h,
componentStack:d,thenableState:n};return u.add(g),g}function xn(e,n,t,r,i,l){return{status:0,parentFlushed:!1,id:-1,index:n,
chunks:[],children:[],preambleChildren:[],parentFormatContext:r,boundary:t,lastPushedText:i,textEmbedded:l}}function Nt(e){
var n=e.node;typeof n=="object"&&n!==null&&n.$$typeof===Ta&&(e.componentStack={parent:e.componentStack,type:n.type})}function Ri(e){
return e===null?null:{parent:e.parent,type:"Suspense Fallback"}}function An(e){var n={};return e&&Object.defineProperty(
n,"componentStack",{configurable:!0,enumerable:!0,get:function(){try{var t="",r=e;do t+=Qa(r.type),r=r.parent;while(r);var i=t}catch(l){
i=`
Error generating stack: `+l.message+`
`+l.stack}return Object.defineProperty(n,"componentStack",{value:i}),i}}),n}function Q(e,n,t){if(Mr(n))return e=e.onBrowserBailout,
e(n,t),"";if(e=e.onError,n=e(n,t),n==null||typeof n=="string")return n===""?void 0:n}function Cn(e,n){var t=e.onShellError,
r=e.onFatalError;e.pendingRootTasks!==0&&t(n),r(n),Xi(e),e.destination!==null?(e.status=13,e.destination.destroy(n)):(e.
status=12,e.aborted||(e.fatalError=n))}function ie(e,n){Ui(e,n.next,n.hoistables)}function Ui(e,n,t){for(;n!==null;){t!==
null&&(jn(n.hoistables,t),n.inheritedHoistables=t);var r=n.boundaries;if(r!==null){n.boundaries=null;for(var i=0;i<r.length;i++){
var l=r[i];t!==null&&jn(l.contentState,t),Sn(e,l,null,null)}}if(n.pendingTasks--,0<n.pendingTasks)break;t=n.hoistables,n=
n.next}}function xi(e,n){var t=n.boundaries;if(t!==null&&n.pendingTasks===t.length){for(var r=!0,i=0;i<t.length;i++){var l=t[i];
if(l.pendingTasks!==1||l.parentFlushed||$n(e,l)){r=!1;break}}r&&Ui(e,n,n.hoistables)}}function mt(e){var n={pendingTasks:1,
boundaries:null,hoistables:wi(),inheritedHoistables:null,together:!1,next:null};return e!==null&&0<e.pendingTasks&&(n.pendingTasks++,
n.boundaries=[],e.next=n),n}function da(e,n,t,r,i){var l=n.keyPath,a=n.treeContext,u=n.row;n.keyPath=t,t=r.length;var o=null;
if(n.replay!==null){var c=n.replay.slots;if(c!==null&&typeof c=="object")for(var f=0;f<t;f++){var s=i!=="backwards"&&i!==
"unstable_legacy-backwards"?f:t-1-f,h=r[s];n.row=o=mt(o),n.treeContext=rn(a,t,s);var d=c[s];typeof d=="number"?(Fr(e,n,d,
h,s),delete c[s]):X(e,n,h,s),--o.pendingTasks===0&&ie(e,o)}else for(c=0;c<t;c++)f=i!=="backwards"&&i!=="unstable_legacy-\
backwards"?c:t-1-c,s=r[f],n.row=o=mt(o),n.treeContext=rn(a,t,f),X(e,n,s,f),--o.pendingTasks===0&&ie(e,o)}else if(i!=="ba\
ckwards"&&i!=="unstable_legacy-backwards")for(i=0;i<t;i++)c=r[i],n.row=o=mt(o),n.treeContext=rn(a,t,i),X(e,n,c,i),--o.pendingTasks===
0&&ie(e,o);else{for(c=n.blockedSegment,f=c.children.length,s=c.chunks.length,h=0;h<t;h++){d=i==="unstable_legacy-backwar\
ds"?t-1-h:h;var g=r[d];n.row=o=mt(o),n.treeContext=rn(a,t,d);var b=xn(e,s,null,n.formatContext,d===0?c.lastPushedText:!0,
!0);c.children.splice(f,0,b),n.blockedSegment=b;try{X(e,n,g,d),wt(b.chunks,e.renderState,b.lastPushedText,b.textEmbedded),
b.status=1,--o.pendingTasks===0&&ie(e,o)}catch(N){throw b.status=e.aborted?3:4,N}}n.blockedSegment=c,c.lastPushedText=!1}
u!==null&&o!==null&&0<o.pendingTasks&&(u.pendingTasks++,o.next=u),n.treeContext=a,n.row=u,n.keyPath=l}function ha(e,n,t,r,i,l){
var a=n.thenableState;for(n.thenableState=null,Ue={},Fi=n,Li=e,Di=t,xt=Rt=0,Ct=-1,wr=0,Kn=a,e=r(i,l);Tr;)Tr=!1,xt=Rt=0,Ct=
-1,wr=0,Ir+=1,O=null,e=r(i,l);return At(),e}function ga(e,n,t,r,i,l,a){var u=!1;if(l!==0&&e.formState!==null){var o=n.blockedSegment;
if(o!==null){u=!0,o=o.chunks;for(var c=0;c<l;c++)c===a?o.push("<!--F!-->"):o.push("<!--F-->")}}l=n.keyPath,n.keyPath=t,i?
(t=n.treeContext,n.treeContext=rn(t,1,0),X(e,n,r,-1),n.treeContext=t):u?X(e,n,r,-1):me(e,n,r,-1),n.keyPath=l}function Rr(e,n,t,r,i,l){
if(typeof r=="function")if(r.prototype&&r.prototype.isReactComponent){var a=i;if("ref"in i){a={};for(var u in i)u!=="ref"&&
(a[u]=i[u])}var o=r.defaultProps;if(o){a===i&&(a=ge({},a,i));for(var c in o)a[c]===void 0&&(a[c]=o[c])}var f=a,s=ia,h=r.
contextType;typeof h=="object"&&h!==null&&(s=h._currentValue2);var d=new r(f,s),g=d.state!==void 0?d.state:null;d.updater=
la,d.props=f,d.state=g;var b={queue:[],replace:!1};d._reactInternals=b;var N=r.contextType;d.context=typeof N=="object"&&
N!==null?N._currentValue2:ia;var R=r.getDerivedStateFromProps;if(typeof R=="function"){var S=R(f,g),U=S==null?g:ge({},g,
S);d.state=U}if(typeof r.getDerivedStateFromProps!="function"&&typeof d.getSnapshotBeforeUpdate!="function"&&(typeof d.UNSAFE_componentWillMount==
"function"||typeof d.componentWillMount=="function")){var D=d.state;if(typeof d.componentWillMount=="function"&&d.componentWillMount(),
typeof d.UNSAFE_componentWillMount=="function"&&d.UNSAFE_componentWillMount(),D!==d.state&&la.enqueueReplaceState(d,d.state,
null),b.queue!==null&&0<b.queue.length){var T=b.queue,C=b.replace;if(b.queue=null,b.replace=!1,C&&T.length===1)d.state=T[0];else{
for(var M=C?T[0]:d.state,ve=!0,E=C?1:0;E<T.length;E++){var H=T[E],B=typeof H=="function"?H.call(d,M,f,void 0):H;B!=null&&
(ve?(ve=!1,M=ge({},M,B)):ge(M,B))}d.state=M}}else b.queue=null}var V=d.render();if(e.aborted)throw null;var I=n.keyPath;
n.keyPath=t,me(e,n,V,-1),n.keyPath=I}else{var se=ha(e,n,t,r,i,void 0);if(e.aborted)throw null;ga(e,n,t,se,Rt!==0,xt,Ct)}else if(typeof r==
"string"){var z=n.blockedSegment;if(z===null){var Ge=i.children,pe=n.formatContext,W=n.keyPath;n.formatContext=Vl(pe,r,i),
n.keyPath=t,X(e,n,Ge,-1),n.formatContext=pe,n.keyPath=W}else{var un=rc(z.chunks,r,i,e.resumableState,e.renderState,n.blockedPreamble,
n.hoistableState,n.formatContext,z.lastPushedText);z.lastPushedText=!1;var J=n.formatContext,_e=n.keyPath;if(n.keyPath=t,
(n.formatContext=Vl(J,r,i)).insertionMode===3){var K=xn(e,0,null,n.formatContext,!1,!1);z.preambleChildren.push(K),n.blockedSegment=
K;try{X(e,n,un,-1),wt(K.chunks,e.renderState,K.lastPushedText,K.textEmbedded),K.status=1}finally{n.blockedSegment=z}}else
X(e,n,un,-1);n.formatContext=J,n.keyPath=_e;e:{var Te=z.chunks,Ee=e.resumableState;switch(r){case"title":case"style":case"\
script":case"area":case"base":case"br":case"col":case"embed":case"hr":case"img":case"input":case"keygen":case"link":case"\
meta":case"param":case"source":case"track":case"wbr":break e;case"body":if(1>=J.insertionMode){Ee.hasBody=!0;break e}break;case"\
html":if(J.insertionMode===0){Ee.hasHtml=!0;break e}break;case"head":if(1>=J.insertionMode)break e}Te.push(Rn(r))}z.lastPushedText=
!1}}else{switch(r){case Wu:case Ea:case Ra:case Pa:var ke=n.keyPath;n.keyPath=t,me(e,n,i.children,-1),n.keyPath=ke;return;case Ca:
var L=n.blockedSegment;if(L===null){if(i.mode!=="hidden"){var Le=n.keyPath;n.keyPath=t,X(e,n,i.children,-1),n.keyPath=Le}}else if(i.
mode!=="hidden"){e.renderState.generateStaticMarkup||L.chunks.push("<!--&-->"),L.lastPushedText=!1;var cn=n.keyPath;n.keyPath=
t,X(e,n,i.children,-1),n.keyPath=cn,e.renderState.generateStaticMarkup||L.chunks.push("<!--/&-->"),L.lastPushedText=!1}return;case Si:
e:{var Oe=i.children,Xe=i.revealOrder;if(Xe!=="independent"&&Xe!=="together"){if(gr(Oe)){da(e,n,t,Oe,Xe);break e}var it=Aa(
Oe);if(it){var Mn=it.call(Oe);if(Mn){var In=Mn.next();if(!In.done){do In=Mn.next();while(!In.done);da(e,n,t,Oe,Xe)}break e}}}
if(Xe==="together"){var Wt=n.keyPath,Me=n.row,ee=n.row=mt(null);ee.boundaries=[],ee.together=!0,n.keyPath=t,me(e,n,Oe,-1),
--ee.pendingTasks===0&&ie(e,ee),n.keyPath=Wt,n.row=Me,Me!==null&&0<ee.pendingTasks&&(Me.pendingTasks++,ee.next=Me)}else{
var Gt=n.keyPath;n.keyPath=t,me(e,n,Oe,-1),n.keyPath=Gt}}return;case ki:var lt=n.formatContext,fn=n.keyPath,Xt=e.resumableState;
if(i.name==null||i.name==="auto"){var De=Ga(n.treeContext);Oa(Xt,De,0)}if(n.formatContext=lt,n.keyPath=t,i.name!=null&&i.
name!=="auto")me(e,n,i.children,-1);else{var Ze=n.treeContext;n.treeContext=rn(Ze,1,0),X(e,n,i.children,-1),n.treeContext=
Ze}n.formatContext=lt,n.keyPath=fn;return;case zu:throw Error(v(343));case Sr:e:if(n.replay!==null){var sn=n.keyPath,Ve=n.
formatContext,dn=n.row;n.keyPath=t,n.formatContext=or(e.resumableState,Ve),n.row=null;var Ie=i.children;try{X(e,n,Ie,-1)}finally{
n.keyPath=sn,n.formatContext=Ve,n.row=dn}}else{var Fn=n.keyPath,Qe=n.formatContext,oe=n.row,at=n.blockedBoundary,hn=n.blockedPreamble,
Zt=n.hoistableState,Re=n.blockedSegment,ot=i.fallback,Je=i.children,Ke=new Set,_=Yi(e,n.row,Ke,null,!1),xe=xn(e,Re.chunks.
length,_,n.formatContext,!1,!1);Re.children.push(xe),Re.lastPushedText=!1;var we=xn(e,0,null,n.formatContext,!1,!1);we.parentFlushed=
!0;var ut=e.trackedPostpones;if(ut!==null){var Ln=n.componentStack,Dn=[t[0],"Suspense Fallback",t[2]];if(ut!==null){var Vt=[
Dn[1],Dn[2],[],null];ut.workingMap.set(Dn,Vt),_.tracked={contentKeyPath:t,fallbackNode:Vt}}n.blockedSegment=xe,n.blockedPreamble=
_.preamble===null?null:_.preamble.fallback,n.keyPath=Dn,n.formatContext=bi(e.resumableState,Qe),n.componentStack=Ri(Ln);
try{X(e,n,ot,-1),wt(xe.chunks,e.renderState,xe.lastPushedText,xe.textEmbedded),xe.status=1}catch(Fe){throw xe.status=e.aborted?
3:4,Fe}finally{n.blockedSegment=Re,n.blockedPreamble=hn,n.keyPath=Fn,n.formatContext=Qe}var Qt=Er(e,null,Je,-1,_,we,_.preamble===
null?null:_.preamble.content,_.contentState,n.abortSet,t,or(e.resumableState,n.formatContext),n.context,n.treeContext,null,
Ln);Nt(Qt),e.pingedTasks.push(Qt)}else{n.blockedBoundary=_,n.blockedPreamble=_.preamble===null?null:_.preamble.content,n.
hoistableState=_.contentState,n.blockedSegment=we,n.keyPath=t,n.formatContext=or(e.resumableState,Qe),n.row=null;try{if(X(
e,n,Je,-1),wt(we.chunks,e.renderState,we.lastPushedText,we.textEmbedded),we.status=1,St(_,we),_.pendingTasks===0&&_.status===
0){if(_.status=1,!$n(e,_)){oe!==null&&--oe.pendingTasks===0&&ie(e,oe),e.pendingRootTasks===0&&n.blockedPreamble&&Mt(e);break e}}else
oe!==null&&oe.together&&xi(e,oe)}catch(Fe){if(_.status=4,e.aborted){we.status=3;var Ce=e.fatalError}else we.status=4,Ce=
Fe;var Hn=An(n.componentStack),gn=Q(e,Ce,Hn);_.errorDigest=gn,zi(e,_)}finally{n.blockedBoundary=at,n.blockedPreamble=hn,
n.hoistableState=Zt,n.blockedSegment=Re,n.keyPath=Fn,n.formatContext=Qe,n.row=oe}var He=Er(e,null,ot,-1,at,xe,_.preamble===
null?null:_.preamble.fallback,_.fallbackState,Ke,[t[0],"Suspense Fallback",t[2]],bi(e.resumableState,n.formatContext),n.
context,n.treeContext,n.row,Ri(n.componentStack));Nt(He),e.pingedTasks.push(He)}}return}if(typeof r=="object"&&r!==null)
switch(r.$$typeof){case Ni:if("ref"in i){var qe={};for(var je in i)je!=="ref"&&(qe[je]=i[je])}else qe=i;var ct=ha(e,n,t,
r.render,qe,l);ga(e,n,t,ct,Rt!==0,xt,Ct);return;case _i:Rr(e,n,t,r.type,i,l);return;case Nr:var Jt=i.children,Jr=n.keyPath,
Bn=i.value,Kt=r._currentValue2;r._currentValue2=Bn;var $e=En,vn={parent:$e,depth:$e===null?0:$e.depth+1,context:r,parentValue:Kt,
value:Bn};En=vn,n.context=vn,n.keyPath=t,me(e,n,Jt,-1);var pn=En;if(pn===null)throw Error(v(403));pn.context._currentValue2=
pn.parentValue;var Yn=En=pn.parent;n.context=Yn,n.keyPath=Jr;return;case xa:var ft=i.children,qt=ft(r._context._currentValue2),
jt=n.keyPath;n.keyPath=t,me(e,n,qt,-1),n.keyPath=jt;return;case _r:var Kr=r._init,Un=Kr(r._payload);if(e.aborted)throw null;
Rr(e,n,t,Un,i,l);return}throw Error(v(130,r==null?r:typeof r,""))}}function Fr(e,n,t,r,i){var l=n.replay,a=n.blockedBoundary,
u=xn(e,0,null,n.formatContext,!1,!1);u.id=t,u.parentFlushed=!0;try{n.replay=null,n.blockedSegment=u,X(e,n,r,i),u.status=
1,a===null?e.completedRootSegment=u:(St(a,u),a.parentFlushed&&e.partialBoundaries.push(a))}finally{n.replay=l,n.blockedSegment=
null}}function me(e,n,t,r){n.replay!==null&&typeof n.replay.slots=="number"?Fr(e,n,n.replay.slots,t,r):(n.node=t,n.childIndex=
r,t=n.componentStack,Nt(n),Ci(e,n),n.componentStack=t)}function Ci(e,n){var t=n.node,r=n.childIndex;if(t!==null){if(typeof t==
"object"){switch(t.$$typeof){case Ta:var i=t.type,l=t.key,a=t.props;t=a.ref;var u=t!==void 0?t:null,o=br(i),c=l==null||l===
Xu?r===-1?0:r:l;if(l=[n.keyPath,o,c],n.replay!==null)e:{var f=n.replay;for(r=f.nodes,t=0;t<r.length;t++){var s=r[t];if(c===
s[1]){if(s.length===4){if(o!==null&&o!==s[0])throw Error(v(490,s[0],o));var h=s[2],d=s[3],g=n.node;n.replay={nodes:h,slots:d,
pendingTasks:1};try{if(Rr(e,n,l,i,a,u),n.replay.pendingTasks===1&&0<n.replay.nodes.length)throw Error(v(488));n.replay.pendingTasks--}catch(M){
if(typeof M=="object"&&M!==null&&(M===ce||typeof M.then=="function"||M.message==="Maximum call stack size exceeded"))throw n.
node===g?n.replay=f:r.splice(t,1),M;n.replay.pendingTasks--,l=An(n.componentStack),g=e,a=n.blockedBoundary,e=e.aborted?e.
fatalError:M,l=Q(g,e,l),Ot(g,a,h,d,e,l)}n.replay=f}else{if(i!==Sr)throw Error(v(490,"Suspense",br(i)||"Unknown"));n:{f=s[5],
i=s[2],u=s[3],o=s[4]===null?[]:s[4][2],s=s[4]===null?null:s[4][3],c=n.keyPath;var b=n.formatContext,N=n.row,R=n.replay,S=n.
blockedBoundary,U=n.hoistableState,D=a.children;a=a.fallback;var T=new Set,C=Yi(e,n.row,T,null,!1);C.parentFlushed=!0,C.
rootSegmentID=f,n.blockedBoundary=C,n.hoistableState=C.contentState,n.keyPath=l,n.formatContext=or(e.resumableState,b),n.
row=null,n.replay={nodes:i,slots:u,pendingTasks:1};try{if(X(e,n,D,-1),n.replay.pendingTasks===1&&0<n.replay.nodes.length)
throw Error(v(488));if(n.replay.pendingTasks--,C.pendingTasks===0&&C.status===0){C.status=1,e.completedBoundaries.push(C);
break n}}catch(M){C.status=4,h=e.aborted?e.fatalError:M,d=An(n.componentStack),g=Q(e,h,d),C.errorDigest=g,n.replay.pendingTasks--,
e.clientRenderedBoundaries.push(C)}finally{n.blockedBoundary=S,n.hoistableState=U,n.replay=R,n.keyPath=c,n.formatContext=
b,n.row=N}h=Ja(e,null,{nodes:o,slots:s,pendingTasks:0},a,-1,S,C.fallbackState,T,[l[0],"Suspense Fallback",l[2]],bi(e.resumableState,
n.formatContext),n.context,n.treeContext,n.row,Ri(n.componentStack)),Nt(h),e.pingedTasks.push(h)}}r.splice(t,1);break e}}}else
Rr(e,n,l,i,a,u);return;case wa:throw Error(v(257));case _r:if(h=t._init,t=h(t._payload),e.aborted)throw null;me(e,n,t,r);
return}if(gr(t)){Ai(e,n,t,r);return}if((h=Aa(t))&&(h=h.call(t))){if(t=h.next(),!t.done){d=[];do d.push(t.value),t=h.next();while(!t.
done);Ai(e,n,d,r)}return}if(typeof t.then=="function")return n.thenableState=null,me(e,n,Va(t),r);if(t.$$typeof===Nr)return me(
e,n,t._currentValue2,r);throw r=Object.prototype.toString.call(t),Error(v(31,r==="[object Object]"?"object with keys {"+
Object.keys(t).join(", ")+"}":r))}typeof t=="string"?(r=n.blockedSegment,r!==null&&(r.lastPushedText=ra(r.chunks,t,e.renderState,
r.lastPushedText))):(typeof t=="number"||typeof t=="bigint")&&(r=n.blockedSegment,r!==null&&(r.lastPushedText=ra(r.chunks,
""+t,e.renderState,r.lastPushedText)))}}function Ai(e,n,t,r){var i=n.keyPath;if(r!==-1&&(n.keyPath=[n.keyPath,"Fragment",
r],n.replay!==null)){for(var l=n.replay,a=l.nodes,u=0;u<a.length;u++){var o=a[u];if(o[1]===r){r=o[2],o=o[3],n.replay={nodes:r,
slots:o,pendingTasks:1};try{if(Ai(e,n,t,-1),n.replay.pendingTasks===1&&0<n.replay.nodes.length)throw Error(v(488));n.replay.
pendingTasks--}catch(s){if(typeof s=="object"&&s!==null&&(s===ce||typeof s.then=="function"))throw s;n.replay.pendingTasks--;
var c=An(n.componentStack);t=e;var f=n.blockedBoundary;e=e.aborted?e.fatalError:s,c=Q(t,e,c),Ot(t,f,r,o,e,c)}n.replay=l,
a.splice(u,1);break}}n.keyPath=i;return}if(l=n.treeContext,a=t.length,n.replay!==null&&(u=n.replay.slots,u!==null&&typeof u==
"object")){for(r=0;r<a;r++)o=t[r],n.treeContext=rn(l,a,r),f=u[r],typeof f=="number"?(Fr(e,n,f,o,r),delete u[r]):X(e,n,o,
r);n.treeContext=l,n.keyPath=i;return}for(u=0;u<a;u++)r=t[u],n.treeContext=rn(l,a,u),X(e,n,r,u);n.treeContext=l,n.keyPath=
i}function Ka(e,n,t){t.status=5,t.rootSegmentID=e.nextSegmentId++;var r=t.tracked;if(r===null||(e=r.contentKeyPath,e===null))
throw Error(v(486));r=r.fallbackNode;var i=[],l=n.workingMap.get(e);return l===void 0?(t=[e[1],e[2],i,null,r,t.rootSegmentID],
n.workingMap.set(e,t),Ar(t,e[0],n),t):(l[4]=r,l[5]=t.rootSegmentID,l)}function va(e,n,t,r){r.status=5;var i=t.keyPath,l=t.
blockedBoundary;if(l===null)r.id=e.nextSegmentId++,n.rootSlots=r.id,e.completedRootSegment!==null&&(e.completedRootSegment.
status=5);else{if(l!==null&&l.status===0){var a=Ka(e,n,l);if(l.tracked!==null&&l.tracked.contentKeyPath===i&&t.childIndex===
-1){r.id===-1&&(r.id=r.parentFlushed?l.rootSegmentID:e.nextSegmentId++),a[3]=r.id;return}}if(r.id===-1&&(r.id=r.parentFlushed&&
l!==null?l.rootSegmentID:e.nextSegmentId++),t.childIndex===-1)i===null?n.rootSlots=r.id:(t=n.workingMap.get(i),t===void 0?
(t=[i[1],i[2],[],r.id],Ar(t,i[0],n)):t[3]=r.id);else{if(i===null){if(e=n.rootSlots,e===null)e=n.rootSlots={};else if(typeof e==
"number")throw Error(v(491))}else if(l=n.workingMap,a=l.get(i),a===void 0)e={},a=[i[1],i[2],[],e],l.set(i,a),Ar(a,i[0],n);else if(e=
a[3],e===null)e=a[3]={};else if(typeof e=="number")throw Error(v(491));e[t.childIndex]=r.id}}}function zi(e,n){e=e.trackedPostpones,
e!==null&&(n=n.tracked,n!==null&&(n=n.contentKeyPath,n!==null&&(e=e.workingMap.get(n),e!==void 0&&(e.length=4,e[2]=[],e[3]=
null))))}function pa(e,n,t){return Ja(e,t,n.replay,n.node,n.childIndex,n.blockedBoundary,n.hoistableState,n.abortSet,n.keyPath,
n.formatContext,n.context,n.treeContext,n.row,n.componentStack)}function ya(e,n,t){var r=n.blockedSegment,i=xn(e,r.chunks.
length,null,n.formatContext,r.lastPushedText,!0);return r.children.push(i),r.lastPushedText=!1,Er(e,t,n.node,n.childIndex,
n.blockedBoundary,i,n.blockedPreamble,n.hoistableState,n.abortSet,n.keyPath,n.formatContext,n.context,n.treeContext,n.row,
n.componentStack)}function X(e,n,t,r){var i=n.formatContext,l=n.context,a=n.keyPath,u=n.treeContext,o=n.componentStack,c=n.
blockedSegment;if(c===null){c=n.replay;try{return me(e,n,t,r)}catch(h){if(At(),t=h===ce?mr():h,!e.aborted&&typeof t=="ob\
ject"&&t!==null){if(typeof t.then=="function"){r=h===ce?an():null,e=pa(e,n,r).ping,t.then(e.resolve,e.reject),n.formatContext=
i,n.context=l,n.keyPath=a,n.treeContext=u,n.componentStack=o,n.replay=c,nn(l);return}if(t.message==="Maximum call stack \
size exceeded"){t=h===ce?an():null,t=pa(e,n,t),e.pingedTasks.push(t),n.formatContext=i,n.context=l,n.keyPath=a,n.treeContext=
u,n.componentStack=o,n.replay=c,nn(l);return}}}}else{var f=c.children.length,s=c.chunks.length;try{return me(e,n,t,r)}catch(h){
if(At(),c.children.length=f,c.chunks.length=s,t=h===ce?mr():h,!e.aborted&&typeof t=="object"&&t!==null){if(typeof t.then==
"function"){c=t,t=h===ce?an():null,e=ya(e,n,t).ping,c.then(e.resolve,e.reject),n.formatContext=i,n.context=l,n.keyPath=a,
n.treeContext=u,n.componentStack=o,nn(l);return}if(t.message==="Maximum call stack size exceeded"){c=h===ce?an():null,c=
ya(e,n,c),e.pingedTasks.push(c),n.formatContext=i,n.context=l,n.keyPath=a,n.treeContext=u,n.componentStack=o,nn(l);return}}}}
throw n.formatContext=i,n.context=l,n.keyPath=a,n.treeContext=u,nn(l),t}function Xc(e){var n=e.blockedBoundary,t=e.blockedSegment;
t!==null&&(t.status=3,Sn(this,n,e.row,t))}function Ot(e,n,t,r,i,l){for(var a=0;a<t.length;a++){var u=t[a];if(u.length===
4)Ot(e,n,u[2],u[3],i,l);else{u=u[5];var o=e,c=l,f=Yi(o,null,new Set,null,!1);f.parentFlushed=!0,f.rootSegmentID=u,f.status=
4,f.errorDigest=c,f.parentFlushed&&o.clientRenderedBoundaries.push(f)}}if(t.length=0,r!==null){if(n===null)throw Error(v(
487));if(n.status!==4&&(n.status=4,n.errorDigest=l,n.parentFlushed&&e.clientRenderedBoundaries.push(n)),typeof r=="objec\
t")for(var s in r)delete r[s]}}function xr(e,n){if(e!==n.currentTask){var t=e.blockedBoundary;e=e.blockedSegment,e!==null&&
(e.status=3),t!==null&&t.fallbackAbortableTasks.forEach(function(r){return xr(r,n)})}}function Nn(e,n,t){if(e!==n.currentTask){
var r=e.blockedBoundary,i=e.blockedSegment;if(i===null||i.status===3){var l=An(e.componentStack),a=Mr(t);if(r===null){if(r=
e.replay,r===null){a||n.trackedPostpones===null||i===null?a?(e=Hi(t),Q(n,e,l),n.status!==12&&n.status!==13&&Cn(n,e)):(Q(
n,t,l),n.status!==12&&n.status!==13&&Cn(n,t)):(r=n.trackedPostpones,Q(n,t,l),va(n,r,e,i),Sn(n,null,e.row,i));return}n.status!==
12&&n.status!==13&&(r.pendingTasks--,r.pendingTasks===0&&0<r.nodes.length&&(l=Q(n,t,l),Ot(n,null,r.nodes,r.slots,t,l)),n.
pendingRootTasks--,n.pendingRootTasks===0&&Gi(n))}else{var u=n.trackedPostpones;if(r.status!==4){if(!a&&u!==null&&i!==null)
return Q(n,t,l),va(n,u,e,i),r.fallbackAbortableTasks.forEach(function(o){return Nn(o,n,t)}),r.fallbackAbortableTasks.clear(),
Sn(n,r,e.row,i);r.status=4,l=Q(n,t,l),r.errorDigest=l,zi(n,r),r.parentFlushed&&n.clientRenderedBoundaries.push(r)}r.pendingTasks--,
l=r.row,l!==null&&--l.pendingTasks===0&&ie(n,l),r.fallbackAbortableTasks.forEach(function(o){return Nn(o,n,t)}),r.fallbackAbortableTasks.
clear()}e=e.row,e!==null&&--e.pendingTasks===0&&ie(n,e),n.allPendingTasks--,n.allPendingTasks===0&&Cr(n)}}}function Wi(e,n){
try{var t=e.renderState,r=t.onHeaders;if(r){var i=t.headers;if(i){t.headers=null;var l=i.preconnects;if(i.fontPreloads&&
(l&&(l+=", "),l+=i.fontPreloads),i.highImagePreloads&&(l&&(l+=", "),l+=i.highImagePreloads),!n){var a=t.styles.values(),
u=a.next();e:for(;0<i.remainingCapacity&&!u.done;u=a.next())for(var o=u.value.sheets.values(),c=o.next();0<i.remainingCapacity&&
!c.done;c=o.next()){var f=c.value,s=f.props,h=s.href,d=f.props,g=yr(d.href,"style",{crossOrigin:d.crossOrigin,integrity:d.
integrity,nonce:d.nonce,type:d.type,fetchPriority:d.fetchPriority,referrerPolicy:d.referrerPolicy,media:d.media});if(0<=
(i.remainingCapacity-=g.length+2))t.resets.style[h]=Pe,l&&(l+=", "),l+=g,t.resets.style[h]=typeof s.crossOrigin=="string"||
typeof s.integrity=="string"?[s.crossOrigin,s.integrity]:Pe;else break e}}r(l?{Link:l}:{})}}}catch(b){Q(e,b,{})}}function Gi(e){
e.trackedPostpones===null&&Wi(e,!0),e.trackedPostpones===null&&Mt(e),e=e.onShellReady,e()}function Cr(e){Wi(e,e.trackedPostpones===
null?!0:e.completedRootSegment===null||e.completedRootSegment.status!==5),Mt(e),e=e.onAllReady,e()}function St(e,n){if(n.
chunks.length===0&&n.children.length===1&&n.children[0].boundary===null&&n.children[0].id===-1){var t=n.children[0];t.id=
n.id,t.parentFlushed=!0,t.status!==1&&t.status!==3&&t.status!==4||St(e,t)}else e.completedSegments.push(n)}function Sn(e,n,t,r){
if(t!==null&&(--t.pendingTasks===0?ie(e,t):t.together&&xi(e,t)),e.allPendingTasks--,n===null){if(r!==null&&r.parentFlushed){
if(e.completedRootSegment!==null)throw Error(v(389));e.completedRootSegment=r}e.pendingRootTasks--,e.pendingRootTasks===
0&&Gi(e)}else if(n.pendingTasks--,n.status!==4)if(n.pendingTasks===0){if(n.status===0&&(n.status=1),r!==null&&r.parentFlushed&&
(r.status===1||r.status===3)&&St(n,r),n.parentFlushed&&e.completedBoundaries.push(n),n.status===1)t=n.row,t!==null&&jn(t.
hoistables,n.contentState),$n(e,n)||(e.allPendingTasks++,n.fallbackAbortableTasks.forEach(Xc,e),n.fallbackAbortableTasks.
clear(),t!==null&&--t.pendingTasks===0&&ie(e,t),e.allPendingTasks--),e.pendingRootTasks===0&&e.trackedPostpones===null&&
n.preamble!==null&&Mt(e);else if(n.status===5&&(n=n.row,n!==null)){if(e.trackedPostpones!==null){t=e.trackedPostpones;var i=n.
next;if(i!==null&&(r=i.boundaries,r!==null))for(i.boundaries=null,i=0;i<r.length;i++){var l=r[i];Ka(e,t,l),Sn(e,l,null,null)}}
e.allPendingTasks++,--n.pendingTasks===0&&ie(e,n),e.allPendingTasks--}}else r===null||!r.parentFlushed||r.status!==1&&r.
status!==3||(St(n,r),n.completedSegments.length===1&&n.parentFlushed&&e.partialBoundaries.push(n)),n=n.row,n!==null&&n.together&&
xi(e,n);e.allPendingTasks===0&&Cr(e)}function qa(e){if(!(e.aborted||11<e.status)){var n=En,t=Qn.H;Qn.H=fa;var r=Qn.A;Qn.
A=Uc;var i=$;$=e;var l=dr;dr=e.resumableState;try{var a=e.pingedTasks,u;for(u=0;u<a.length;u++){var o=a[u],c=e,f=o.blockedSegment;
if(f===null){e:if(o.replay.pendingTasks!==0){var s=c.currentTask;c.currentTask=o,nn(o.context);var h=o.node;try{if(typeof o.
replay.slots=="number"?Fr(c,o,o.replay.slots,o.node,o.childIndex):Ci(c,o),o.replay.pendingTasks===1&&0<o.replay.nodes.length)
throw Error(v(488));o.replay.pendingTasks--,o.abortSet.delete(o),Sn(c,o.blockedBoundary,o.row,null)}catch(W){At();var d=W===
ce?mr():W;if(c.aborted){W===ce&&(o.thenableState=an()),c.currentTask=s;var g=c;xr(o,g),o.abortSet.delete(o),Nn(o,g,g.fatalError)}else{
if(typeof d=="object"&&d!==null){if(typeof d.then=="function"){var b=o.ping;d.then(b.resolve,b.reject),o.thenableState=W===
ce?an():null;break e}if(d.message==="Maximum call stack size exceeded"&&o.node!==h){o.thenableState=null,c.pingedTasks.push(
o);break e}}o.replay.pendingTasks--,o.abortSet.delete(o);var N=An(o.componentStack);g=c;var R=o.blockedBoundary,S=c.aborted?
c.fatalError:d,U=o.replay.nodes,D=o.replay.slots,T=Q(g,S,N);Ot(g,R,U,D,S,T),c.pendingRootTasks--,c.pendingRootTasks===0&&
Gi(c),c.allPendingTasks--,c.allPendingTasks===0&&Cr(c)}}finally{c.currentTask=s}}}else e:if(g=f,g.status===0){var C=c.currentTask;
c.currentTask=o,nn(o.context);var M=g.children.length,ve=g.chunks.length,E=o.node;try{Ci(c,o),wt(g.chunks,c.renderState,
g.lastPushedText,g.textEmbedded),o.abortSet.delete(o),g.status=1,Sn(c,o.blockedBoundary,o.row,g)}catch(W){At(),g.children.
length=M,g.chunks.length=ve;var H=W===ce?mr():W;if(c.aborted)W===ce&&(o.thenableState=an()),c.currentTask=C,g=c,xr(o,g),
o.abortSet.delete(o),Nn(o,g,g.fatalError);else{if(typeof H=="object"&&H!==null){if(typeof H.then=="function"){g.status=0,
o.thenableState=W===ce?an():null;var B=o.ping;H.then(B.resolve,B.reject);break e}if(H.message==="Maximum call stack size\
 exceeded"&&o.node!==E){g.status=0,o.thenableState=null,c.pingedTasks.push(o);break e}}var V=An(o.componentStack);o.abortSet.
delete(o),g.status=4;var I=o.blockedBoundary,se=o.row;if(se!==null&&--se.pendingTasks===0&&ie(c,se),c.allPendingTasks--,
I===null)if(Mr(H)){var z=Hi(H);Q(c,z,V),Cn(c,z)}else Q(c,H,V),Cn(c,H);else{var Ge=Q(c,H,V);if(I.pendingTasks--,I.status!==
4){I.status=4,I.errorDigest=Ge,zi(c,I);var pe=I.row;pe!==null&&(c.allPendingTasks++,--pe.pendingTasks===0&&ie(c,pe),c.allPendingTasks--),
I.parentFlushed&&c.clientRenderedBoundaries.push(I),c.pendingRootTasks===0&&c.trackedPostpones===null&&I.preamble!==null&&
Mt(c)}c.allPendingTasks===0&&Cr(c)}}}finally{c.currentTask=C}}}a.splice(0,u),e.destination!==null&&Lr(e,e.destination)}catch(W){
Q(e,W,{}),Cn(e,W)}finally{dr=l,Qn.H=t,Qn.A=r,t===fa&&nn(n),$=i}}}function pi(e,n,t){n.preambleChildren.length&&t.push(n.
preambleChildren);for(var r=!1,i=0;i<n.children.length;i++)r=ja(e,n.children[i],t)||r;return r}function ja(e,n,t){var r=n.
boundary;if(r===null)return pi(e,n,t);var i=r.preamble;if(i===null)return!1;switch(r.status){case 1:if(na(e.renderState,
i.content),e.byteSize+=r.byteSize,n=r.completedSegments[0],!n)throw Error(v(391));return pi(e,n,t);case 5:if(e.trackedPostpones!==
null)return!0;case 4:if(n.status===1)return na(e.renderState,i.fallback),pi(e,n,t);default:return!0}}function Mt(e){if(e.
completedRootSegment&&e.completedPreambleSegments===null){var n=[],t=e.byteSize,r=ja(e,e.completedRootSegment,n),i=e.renderState.
preamble;r===!1||i.headChunks&&i.bodyChunks?e.completedPreambleSegments=n:e.byteSize=t}}function ar(e,n,t,r){switch(t.parentFlushed=
!0,t.status){case 0:t.id=e.nextSegmentId++;case 5:return r=t.id,t.lastPushedText=!1,t.textEmbedded=!1,e=e.renderState,n.
push('<template id="'),n.push(e.placeholderPrefix),e=r.toString(16),n.push(e),n.push('"></template>');case 1:t.status=2;
var i=!0,l=t.chunks,a=0;t=t.children;for(var u=0;u<t.length;u++){for(i=t[u];a<i.index;a++)n.push(l[a]);i=kt(e,n,i,r)}for(;a<
l.length-1;a++)n.push(l[a]);return a<l.length&&(i=n.push(l[a])),i;case 3:return!0;default:throw Error(v(390))}}var _t=0;
function kt(e,n,t,r){var i=t.boundary;if(i===null)return ar(e,n,t,r);if(t.boundary=null,i.parentFlushed=!0,i.status===4){
var l=i.row;return l!==null&&--l.pendingTasks===0&&ie(e,l),e.renderState.generateStaticMarkup||(i=i.errorDigest,n.push("\
<!--$!-->"),n.push("<template"),i!=null&&(n.push(' data-dgst="'),i=w(i),n.push(i),n.push('"')),n.push("></template>")),ar(
e,n,t,r),e=e.renderState.generateStaticMarkup?!0:n.push("<!--/$-->"),e}if(i.status!==1)return i.status===0&&(i.rootSegmentID=
e.nextSegmentId++),0<i.completedSegments.length&&e.partialBoundaries.push(i),ta(n,e.renderState,i.rootSegmentID),r&&jn(r,
i.fallbackState),ar(e,n,t,r),n.push("<!--/$-->");if(!hr&&$n(e,i)&&(_t+i.byteSize>e.progressiveChunkSize||i.defer))return i.
rootSegmentID=e.nextSegmentId++,e.completedBoundaries.push(i),ta(n,e.renderState,i.rootSegmentID),ar(e,n,t,r),n.push("<!\
--/$-->");if(_t+=i.byteSize,r&&jn(r,i.contentState),t=i.row,t!==null&&$n(e,i)&&--t.pendingTasks===0&&ie(e,t),e.renderState.
generateStaticMarkup||n.push("<!--$-->"),t=i.completedSegments,t.length!==1)throw Error(v(391));return kt(e,n,t[0],r),e=
e.renderState.generateStaticMarkup?!0:n.push("<!--/$-->"),e}function yi(e,n,t,r){return ic(n,e.renderState,t.parentFormatContext,
t.id),kt(e,n,t,r),lc(n,t.parentFormatContext)}function ba(e,n,t){_t=t.byteSize;for(var r=t.completedSegments,i=0;i<r.length;i++)
$a(e,n,t,r[i]);r.length=0,r=t.row,r!==null&&$n(e,t)&&--r.pendingTasks===0&&ie(e,r),Ba(n,t.contentState,e.renderState),r=
e.resumableState,e=e.renderState,i=t.rootSegmentID,t=t.contentState;var l=e.stylesToHoist,a=(r.instructions&128)!==0;return e.
stylesToHoist=!1,n.push(e.startInlineScript),n.push(">"),l?((r.instructions&4)===0&&(r.instructions|=4,n.push('$RX=funct\
ion(b,c,d,e,f){var a=document.getElementById(b);a&&(b=a.previousSibling,b.data="$!",a=a.dataset,null!=c&&(a.dgst=c),d&&(\
a.msg=d),e&&(a.stck=e),f&&(a.cstck=f),b._reactRetry&&b._reactRetry())};')),(r.instructions&2)===0&&(r.instructions|=2,n.
push(`$RB=[];$RV=function(a){$RT=performance.now();for(var b=0;b<a.length;b+=2){var c=a[b],e=a[b+1];null!==e.parentNode&\
&e.parentNode.removeChild(e);var f=c.parentNode;if(f){var g=c.previousSibling,h=0;do{if(c&&8===c.nodeType){var d=c.data;\
if("/$"===d||"/&"===d)if(0===h)break;else h--;else"$"!==d&&"$?"!==d&&"$~"!==d&&"$!"!==d&&"&"!==d||h++}d=c.nextSibling;f.\
removeChild(c);c=d}while(c);for(;e.firstChild;)f.insertBefore(e.firstChild,c);g.data="$";g._reactRetry&&requestAnimation\
Frame(g._reactRetry)}}a.length=0};
$RC=function(a,b){if(b=document.getElementById(b))(a=document.getElementById(a))?(a.previousSibling.data="$~",$RB.push(a\
,b),2===$RB.length&&("number"!==typeof $RT?requestAnimationFrame($RV.bind(null,$RB)):(a=performance.now(),setTimeout($RV\
.bind(null,$RB),2300>a&&2E3<a?2300-a:$RT+300-a)))):b.parentNode.removeChild(b)};`)),a&&(r.instructions&256)===0&&(r.instructions|=
256,n.push(`$RV=function(B,g){function h(a,c){var e=a.getAttribute(c);e&&(c=a.style,l.push(a,c.viewTransitionName,c.view\
TransitionClass),"auto"!==e&&(c.viewTransitionClass=e),(a=a.getAttribute("vt-name"))||(a="_T_"+N++ +"_"),a=CSS.escape(a)\
!==a?"r-"+btoa(a).replace(/=/g,""):a,c.viewTransitionName=a,C=!0)}var C=!1,N=0,l=[];try{var f=document.__reactViewTransi\
tion;if(f){f.finished.finally($RV.bind(null,g));return}var m=new Map;for(f=1;f<g.length;f+=2)for(var k=g[f].querySelecto\
rAll("[vt-share]"),d=0;d<k.length;d++){var b=k[d];m.set(b.getAttribute("vt-name"),b)}var u=[];for(k=0;k<g.length;k+=2){v\
ar D=g[k],x=D.parentNode;if(x){var v=x.getBoundingClientRect();if(v.left||v.top||v.width||v.height){b=D;for(f=0;b;){if(8\
===b.nodeType){var t=b.data;if("/$"===t)if(0===f)break;else f--;else"$"!==t&&"$?"!==t&&"$~"!==t&&"$!"!==t||f++}else if(1\
===b.nodeType){d=b;var E=d.getAttribute("vt-name"),y=m.get(E);h(d,y?"vt-share":"vt-exit");y&&(h(y,"vt-share"),m.set(E,nu\
ll));for(var F=d.querySelectorAll("[vt-share]"),
z=0;z<F.length;z++){var G=F[z],H=G.getAttribute("vt-name"),I=m.get(H);I&&(h(G,"vt-share"),h(I,"vt-share"),m.set(H,null))\
}var J=d.querySelectorAll("[vt-parent-exit]");for(d=0;d<J.length;d++)h(J[d],"vt-parent-exit")}b=b.nextSibling}for(var K=\
g[k+1],n=K.firstElementChild;n;){null!==m.get(n.getAttribute("vt-name"))&&h(n,"vt-enter");var L=n.querySelectorAll("[vt-\
parent-enter]");for(b=0;b<L.length;b++)h(L[b],"vt-parent-enter");n=n.nextElementSibling}b=x;do for(var p=b.firstElementC\
hild;p;){var M=p.getAttribute("vt-update");
M&&"none"!==M&&!l.includes(p)&&h(p,"vt-update");p=p.nextElementSibling}while((b=b.parentNode)&&1===b.nodeType&&"none"!==\
b.getAttribute("vt-update"));u.push.apply(u,K.querySelectorAll('img[src]:not([loading="lazy"])'))}}}if(C){var A=document\
.__reactViewTransition=document.startViewTransition({update:function(){B(g);for(var a=[document.documentElement.clientHe\
ight,document.fonts.ready],c={},e=0;e<u.length;c={g:c.g},e++)if(c.g=u[e],!c.g.complete){var q=c.g.getBoundingClientRect(\
);0<q.bottom&&0<q.right&&
q.top<window.innerHeight&&q.left<window.innerWidth&&(q=new Promise(function(w){return function(r){w.g.addEventListener("\
load",r);w.g.addEventListener("error",r)}}(c)),a.push(q))}return Promise.race([Promise.all(a),new Promise(function(w){va\
r r=performance.now();setTimeout(w,2300>r&&2E3<r?2300-r:500)})])},types:[]});A.ready.finally(function(){for(var a=l.leng\
th-3;0<=a;a-=3){var c=l[a],e=c.style;e.viewTransitionName=l[a+1];e.viewTransitionClass=l[a+1];""===c.getAttribute("style\
")&&c.removeAttribute("style")}});
A.finished.finally(function(){document.__reactViewTransition===A&&(document.__reactViewTransition=null)});$RB=[];return}\
}catch(a){}B(g)}.bind(null,$RV);`)),(r.instructions&8)===0?(r.instructions|=8,n.push(`$RM=new Map;$RR=function(n,w,p){fu\
nction u(q){this._p=null;q()}for(var r=new Map,t=document,h,b,e=t.querySelectorAll("link[data-precedence],style[data-pre\
cedence]"),v=[],k=0;b=e[k++];)"not all"===b.getAttribute("media")?v.push(b):("LINK"===b.tagName&&$RM.set(b.getAttribute(\
"href"),b),r.set(b.dataset.precedence,h=b));e=0;b=[];var l,a;for(k=!0;;){if(k){var f=p[e++];if(!f){k=!1;e=0;continue}var\
 c=!1,m=0;var d=f[m++];if(a=$RM.get(d)){var g=a._p;c=!0}else{a=t.createElement("link");a.href=d;a.rel=
"stylesheet";for(a.dataset.precedence=l=f[m++];g=f[m++];)a.setAttribute(g,f[m++]);g=a._p=new Promise(function(q,x){a.onl\
oad=u.bind(a,q);a.onerror=u.bind(a,x)});$RM.set(d,a)}d=a.getAttribute("media");!g||d&&!matchMedia(d).matches||b.push(g);\
if(c)continue}else{a=v[e++];if(!a)break;l=a.getAttribute("data-precedence");a.removeAttribute("media")}c=r.get(l)||h;c==\
=h&&(h=a);r.set(l,a);c?c.parentNode.insertBefore(a,c.nextSibling):(c=t.head,c.insertBefore(a,c.firstChild))}if(p=documen\
t.getElementById(n))p.previousSibling.data=
"$~";Promise.all(b).then($RC.bind(null,n,w),$RX.bind(null,n,"CSS failed to load"))};$RR("`)):n.push('$RR("')):((r.instructions&
2)===0&&(r.instructions|=2,n.push(`$RB=[];$RV=function(a){$RT=performance.now();for(var b=0;b<a.length;b+=2){var c=a[b],\
e=a[b+1];null!==e.parentNode&&e.parentNode.removeChild(e);var f=c.parentNode;if(f){var g=c.previousSibling,h=0;do{if(c&&\
8===c.nodeType){var d=c.data;if("/$"===d||"/&"===d)if(0===h)break;else h--;else"$"!==d&&"$?"!==d&&"$~"!==d&&"$!"!==d&&"&\
"!==d||h++}d=c.nextSibling;f.removeChild(c);c=d}while(c);for(;e.firstChild;)f.insertBefore(e.firstChild,c);g.data="$";g.\
_reactRetry&&requestAnimationFrame(g._reactRetry)}}a.length=0};
$RC=function(a,b){if(b=document.getElementById(b))(a=document.getElementById(a))?(a.previousSibling.data="$~",$RB.push(a\
,b),2===$RB.length&&("number"!==typeof $RT?requestAnimationFrame($RV.bind(null,$RB)):(a=performance.now(),setTimeout($RV\
.bind(null,$RB),2300>a&&2E3<a?2300-a:$RT+300-a)))):b.parentNode.removeChild(b)};`)),a&&(r.instructions&256)===0&&(r.instructions|=
256,n.push(`$RV=function(B,g){function h(a,c){var e=a.getAttribute(c);e&&(c=a.style,l.push(a,c.viewTransitionName,c.view\
TransitionClass),"auto"!==e&&(c.viewTransitionClass=e),(a=a.getAttribute("vt-name"))||(a="_T_"+N++ +"_"),a=CSS.escape(a)\
!==a?"r-"+btoa(a).replace(/=/g,""):a,c.viewTransitionName=a,C=!0)}var C=!1,N=0,l=[];try{var f=document.__reactViewTransi\
tion;if(f){f.finished.finally($RV.bind(null,g));return}var m=new Map;for(f=1;f<g.length;f+=2)for(var k=g[f].querySelecto\
rAll("[vt-share]"),d=0;d<k.length;d++){var b=k[d];m.set(b.getAttribute("vt-name"),b)}var u=[];for(k=0;k<g.length;k+=2){v\
ar D=g[k],x=D.parentNode;if(x){var v=x.getBoundingClientRect();if(v.left||v.top||v.width||v.height){b=D;for(f=0;b;){if(8\
===b.nodeType){var t=b.data;if("/$"===t)if(0===f)break;else f--;else"$"!==t&&"$?"!==t&&"$~"!==t&&"$!"!==t||f++}else if(1\
===b.nodeType){d=b;var E=d.getAttribute("vt-name"),y=m.get(E);h(d,y?"vt-share":"vt-exit");y&&(h(y,"vt-share"),m.set(E,nu\
ll));for(var F=d.querySelectorAll("[vt-share]"),
z=0;z<F.length;z++){var G=F[z],H=G.getAttribute("vt-name"),I=m.get(H);I&&(h(G,"vt-share"),h(I,"vt-share"),m.set(H,null))\
}var J=d.querySelectorAll("[vt-parent-exit]");for(d=0;d<J.length;d++)h(J[d],"vt-parent-exit")}b=b.nextSibling}for(var K=\
g[k+1],n=K.firstElementChild;n;){null!==m.get(n.getAttribute("vt-name"))&&h(n,"vt-enter");var L=n.querySelectorAll("[vt-\
parent-enter]");for(b=0;b<L.length;b++)h(L[b],"vt-parent-enter");n=n.nextElementSibling}b=x;do for(var p=b.firstElementC\
hild;p;){var M=p.getAttribute("vt-update");
M&&"none"!==M&&!l.includes(p)&&h(p,"vt-update");p=p.nextElementSibling}while((b=b.parentNode)&&1===b.nodeType&&"none"!==\
b.getAttribute("vt-update"));u.push.apply(u,K.querySelectorAll('img[src]:not([loading="lazy"])'))}}}if(C){var A=document\
.__reactViewTransition=document.startViewTransition({update:function(){B(g);for(var a=[document.documentElement.clientHe\
ight,document.fonts.ready],c={},e=0;e<u.length;c={g:c.g},e++)if(c.g=u[e],!c.g.complete){var q=c.g.getBoundingClientRect(\
);0<q.bottom&&0<q.right&&
q.top<window.innerHeight&&q.left<window.innerWidth&&(q=new Promise(function(w){return function(r){w.g.addEventListener("\
load",r);w.g.addEventListener("error",r)}}(c)),a.push(q))}return Promise.race([Promise.all(a),new Promise(function(w){va\
r r=performance.now();setTimeout(w,2300>r&&2E3<r?2300-r:500)})])},types:[]});A.ready.finally(function(){for(var a=l.leng\
th-3;0<=a;a-=3){var c=l[a],e=c.style;e.viewTransitionName=l[a+1];e.viewTransitionClass=l[a+1];""===c.getAttribute("style\
")&&c.removeAttribute("style")}});
A.finished.finally(function(){document.__reactViewTransition===A&&(document.__reactViewTransition=null)});$RB=[];return}\
}catch(a){}B(g)}.bind(null,$RV);`)),n.push('$RC("')),r=i.toString(16),n.push(e.boundaryPrefix),n.push(r),n.push('","'),n.
push(e.segmentPrefix),n.push(r),l?(n.push('",'),vc(n,t)):n.push('"'),t=n.push(")</script>"),Ha(n,e)&&t}function $a(e,n,t,r){
if(r.status===2)return!0;var i=t.contentState,l=r.id;if(l===-1){if((r.id=t.rootSegmentID)===-1)throw Error(v(392));return yi(
e,n,r,i)}return l===t.rootSegmentID?yi(e,n,r,i):(yi(e,n,r,i),t=e.resumableState,e=e.renderState,n.push(e.startInlineScript),
n.push(">"),(t.instructions&1)===0?(t.instructions|=1,n.push('$RS=function(a,b){a=document.getElementById(a);b=document.\
getElementById(b);for(a.parentNode.removeChild(a);a.firstChild;)b.parentNode.insertBefore(a.firstChild,b);b.parentNode.r\
emoveChild(b)};$RS("')):n.push('$RS("'),n.push(e.segmentPrefix),l=l.toString(16),n.push(l),n.push('","'),n.push(e.placeholderPrefix),
n.push(l),n=n.push('")</script>'),n)}var hr=!1;function Lr(e,n){try{if(!(0<e.pendingRootTasks)){var t,r=e.completedRootSegment;
if(r!==null){if(r.status===5)return;var i=e.completedPreambleSegments;if(i===null)return;_t=e.byteSize;var l=e.resumableState,
a=e.renderState,u=a.preamble,o=u.htmlChunks,c=u.headChunks,f;if(o){for(f=0;f<o.length;f++)n.push(o[f]);if(c)for(f=0;f<c.
length;f++)n.push(c[f]);else{var s=G("head");n.push(s),n.push(">")}}else if(c)for(f=0;f<c.length;f++)n.push(c[f]);var h=a.
charsetChunks;for(f=0;f<h.length;f++)n.push(h[f]);h.length=0,a.preconnects.forEach(Ne,n),a.preconnects.clear();var d=a.viewportChunks;
for(f=0;f<d.length;f++)n.push(d[f]);d.length=0,a.fontPreloads.forEach(Ne,n),a.fontPreloads.clear(),a.highImagePreloads.forEach(
Ne,n),a.highImagePreloads.clear(),qn=a,a.styles.forEach(dc,n),qn=null;var g=a.importMapChunks;for(f=0;f<g.length;f++)n.push(
g[f]);g.length=0,a.bootstrapScripts.forEach(Ne,n),a.scripts.forEach(Ne,n),a.scripts.clear(),a.bulkPreloads.forEach(Ne,n),
a.bulkPreloads.clear(),l.instructions|=32;var b=a.hoistableChunks;for(f=0;f<b.length;f++)n.push(b[f]);for(l=b.length=0;l<
i.length;l++){var N=i[l];for(a=0;a<N.length;a++)kt(e,n,N[a],null)}var R=e.renderState.preamble,S=R.headChunks;if(R.htmlChunks||
S){var U=Rn("head");n.push(U)}var D=R.bodyChunks;if(D)for(i=0;i<D.length;i++)n.push(D[i]);kt(e,n,r,null),e.completedRootSegment=
null;var T=e.renderState;if(e.allPendingTasks!==0||e.clientRenderedBoundaries.length!==0||e.completedBoundaries.length!==
0||e.trackedPostpones!==null&&(e.trackedPostpones.rootNodes.length!==0||e.trackedPostpones.rootSlots!==null)){var C=e.resumableState;
if((C.instructions&64)===0){if(C.instructions|=64,n.push(T.startInlineScript),(C.instructions&32)===0){C.instructions|=32;
var M="_"+C.idPrefix+"R_";n.push(' id="');var ve=w(M);n.push(ve),n.push('"')}n.push(">"),n.push("requestAnimationFrame(f\
unction(){$RT=performance.now()});"),n.push("</script>")}}Ha(n,T)}var E=e.renderState;r=0;var H=E.viewportChunks;for(r=0;r<
H.length;r++)n.push(H[r]);H.length=0,E.preconnects.forEach(Ne,n),E.preconnects.clear(),E.fontPreloads.forEach(Ne,n),E.fontPreloads.
clear(),E.highImagePreloads.forEach(Ne,n),E.highImagePreloads.clear(),E.styles.forEach(gc,n),E.scripts.forEach(Ne,n),E.scripts.
clear(),E.bulkPreloads.forEach(Ne,n),E.bulkPreloads.clear();var B=E.hoistableChunks;for(r=0;r<B.length;r++)n.push(B[r]);
B.length=0;var V=e.clientRenderedBoundaries;for(t=0;t<V.length;t++){var I=V[t];E=n;var se=e.resumableState,z=e.renderState,
Ge=I.rootSegmentID,pe=I.errorDigest;E.push(z.startInlineScript),E.push(">"),(se.instructions&4)===0?(se.instructions|=4,
E.push('$RX=function(b,c,d,e,f){var a=document.getElementById(b);a&&(b=a.previousSibling,b.data="$!",a=a.dataset,null!=c\
&&(a.dgst=c),d&&(a.msg=d),e&&(a.stck=e),f&&(a.cstck=f),b._reactRetry&&b._reactRetry())};;$RX("')):E.push('$RX("'),E.push(
z.boundaryPrefix);var W=Ge.toString(16);if(E.push(W),E.push('"'),pe!=null)if(E.push(","),pe==null)E.push("null");else{var un=oc(
pe);E.push(un)}var J=E.push(")</script>");if(!J){e.destination=null,t++,V.splice(0,t);return}}V.splice(0,t);var _e=e.completedBoundaries;
for(t=0;t<_e.length;t++)if(!ba(e,n,_e[t])){e.destination=null,t++,_e.splice(0,t);return}_e.splice(0,t),hr=!0;var K=e.partialBoundaries;
for(t=0;t<K.length;t++){var Te=K[t];e:{V=e,I=n,_t=Te.byteSize;var Ee=Te.completedSegments;for(J=0;J<Ee.length;J++)if(!$a(
V,I,Te,Ee[J])){J++,Ee.splice(0,J);var ke=!1;break e}Ee.splice(0,J);var L=Te.row;L!==null&&L.together&&Te.pendingTasks===
1&&(L.pendingTasks===1?Ui(V,L,L.hoistables):L.pendingTasks--),ke=Ba(I,Te.contentState,V.renderState)}if(!ke){e.destination=
null,t++,K.splice(0,t);return}}K.splice(0,t),hr=!1;var Le=e.completedBoundaries;for(t=0;t<Le.length;t++)if(!ba(e,n,Le[t])){
e.destination=null,t++,Le.splice(0,t);return}Le.splice(0,t)}}finally{hr=!1,t=e.postponedState,t!==null&&(t.nextSegmentId=
e.nextSegmentId),e.allPendingTasks===0&&e.clientRenderedBoundaries.length===0&&e.completedBoundaries.length===0&&(e.flushScheduled=
!1,t=e.resumableState,t.hasBody&&(K=Rn("body"),n.push(K)),t.hasHtml&&(t=Rn("html"),n.push(t)),Xi(e),e.status=13,n.push(null),
e.destination=null)}}function _n(e){if(e.flushScheduled===!1&&e.pingedTasks.length===0&&e.destination!==null){e.flushScheduled=
!0;var n=e.destination;n?Lr(e,n):e.flushScheduled=!1}}function Zc(e,n){if(e.status===12)e.status=13,e=e.fatalError,Mr(e)&&
(e=Hi(e)),n.destroy(e);else if(e.status!==13&&e.destination===null){e.destination=n;try{Lr(e,n)}catch(t){Q(e,t,{}),Cn(e,
t)}}}function Vc(e,n){try{if(0<n.size){var t=e.fatalError;n.forEach(function(r){return Nn(r,e,t)}),n.clear()}e.destination!==
null&&Lr(e,e.destination)}catch(r){Q(e,r,{}),Cn(e,r)}}function Xi(e){e=e.renderLifetimeController,e!==null&&e.abort("The\
 render ended.")}function Qc(e,n){if(!(e.aborted||e.status!==11&&e.status!==10)){Xi(e);var t=typeof n=="object"&&n!==null&&
n.$$typeof===kr;e.aborted=!0,n=t?Xa(n):n===void 0?Error(v(432)):typeof n=="object"&&n!==null&&typeof n.then=="function"?
Error(v(530)):n,e.fatalError=n,n=e.abortableTasks,n.forEach(function(r){return xr(r,e)}),Vc(e,n)}}function Ar(e,n,t){if(n===
null)t.rootNodes.push(e);else{var r=t.workingMap,i=r.get(n);i===void 0&&(i=[n[1],n[2],[],null],r.set(n,i),Ar(i,n[0],t)),
i[2].push(e)}}function Jc(){}function eo(e,n,t,r){var i=!1,l=null,a="",u=!1;if(n=ec(n?n.identifierPrefix:void 0),e=Gc(e,
n,Cc(n,t),j(0,null,0,null),1/0,Jc,void 0,void 0,function(){u=!0},void 0,void 0,void 0),e.flushScheduled=e.destination!==
null,qa(e),e.status===10&&(e.status=11),e.trackedPostpones===null&&Wi(e,e.pendingRootTasks===0),Qc(e,r),Zc(e,{push:function(o){
return o!==null&&(a+=o),!0},destroy:function(o){i=!0,l=o}}),i&&l!==r)throw l;if(!u)throw Error(v(426));return a}Dr.renderToStaticMarkup=
function(e,n){return eo(e,n,!0,'The server used "renderToStaticMarkup" which does not support Suspense. If you intended \
to have the server wait for the suspended component please switch to "renderToReadableStream" which supports Suspense on\
 the server')};Dr.renderToString=function(e,n){return eo(e,n,!1,'The server used "renderToString" which does not support\
 Suspense. If you intended for this Suspense boundary to render the fallback content on the server consider throwing an \
Error somewhere within the Suspense boundary. If you intended to have the server wait for the suspended component please\
 switch to "renderToReadableStream" which supports Suspense on the server')};Dr.version="19.3.1"});var lo=wn(Hr=>{"use strict";var qc=Symbol.for("react.transitional.element"),jc=Symbol.for("react.fragment");function io(e,n,t){
var r=null;if(t!==void 0&&(r=""+t),n.key!==void 0&&(r=""+n.key),"key"in n){t={};for(var i in n)i!=="key"&&(t[i]=n[i])}else
t=n;return n=t.ref,{$$typeof:qc,type:e,key:r,ref:n!==void 0?n:null,props:t}}Hr.Fragment=jc;Hr.jsx=io;Hr.jsxs=io});var m=wn((Rf,ao)=>{"use strict";ao.exports=lo()});var uu=p(de(),1),cu=p(no(),1);var Kc=Symbol.for("react-email.element"),le=(e,n={})=>{e[Kc]=n};var to=["margin","marginTop","marginBottom","marginRight","marginLeft","marginInline","marginBlock","marginBlockStart","\
marginBlockEnd","marginInlineStart","marginInlineEnd"],ro=["padding","paddingTop","paddingBottom","paddingRight","paddin\
gLeft","paddingInline","paddingBlock","paddingBlockStart","paddingBlockEnd","paddingInlineStart","paddingInlineEnd"];var oo=p(de(),1),et=p(m(),1),It=oo.forwardRef(({children:e,style:n,...t},r)=>{let i={background:n?.background,backgroundColor:n?.
backgroundColor};if(n)for(let l of[...to,...ro])i[l]=n[l]!==void 0?0:void 0;return(0,et.jsx)("body",{...t,dir:t.dir??"lt\
r",lang:t.lang??"en",style:i,ref:r,children:(0,et.jsx)("table",{border:0,width:"100%",cellPadding:"0",cellSpacing:"0",role:"\
presentation",align:"center",children:(0,et.jsx)("tbody",{children:(0,et.jsx)("tr",{children:(0,et.jsx)("td",{dir:t.dir??
"ltr",lang:t.lang??"en",style:n,children:e})})})})})});It.displayName="Body";le(It);function Br(e){let n=0;if(e===void 0||e==="")return;if(typeof e=="number")return e;let t=/^([\d.]+)(px|em|rem|%)$/.exec(
e);if(t&&t.length===3){let r=Number.parseFloat(t[1]);switch(t[2]){case"px":return r;case"em":case"rem":return n=r*16,n;case"\
%":return n=r/100*600,n;default:return r}}return 0}function $c(e){if(typeof e=="number")return{paddingTop:e,paddingBottom:e,
paddingLeft:e,paddingRight:e};if(typeof e=="string"){let n=e.toString().trim().split(/\s+/);if(n.length===1)return{paddingTop:n[0],
paddingBottom:n[0],paddingLeft:n[0],paddingRight:n[0]};if(n.length===2)return{paddingTop:n[0],paddingRight:n[1],paddingBottom:n[0],
paddingLeft:n[1]};if(n.length===3)return{paddingTop:n[0],paddingRight:n[1],paddingBottom:n[2],paddingLeft:n[1]};if(n.length===
4)return{paddingTop:n[0],paddingRight:n[1],paddingBottom:n[2],paddingLeft:n[3]}}return{paddingTop:void 0,paddingBottom:void 0,
paddingLeft:void 0,paddingRight:void 0}}function uo(e){let n,t,r,i;for(let[l,a]of Object.entries(e))l==="padding"?{paddingTop:n,
paddingBottom:r,paddingLeft:i,paddingRight:t}=$c(a):l==="paddingTop"?n=a:l==="paddingRight"?t=a:l==="paddingBottom"?r=a:
l==="paddingLeft"&&(i=a);return{paddingTop:Br(n),paddingRight:Br(t),paddingBottom:Br(r),paddingLeft:Br(i)}}var Zi=e=>typeof e=="number"&&!Number.isNaN(Number(e))?e*3/4:void 0;var fo=p(de(),1),nt=p(m(),1),ef=5;function co(e){if(e===0)return[0,0];let n=0,t=()=>n>0?e/n/2:Number.POSITIVE_INFINITY;for(;t()>
ef;)n++;return[t(),n]}var Ft=fo.forwardRef(({children:e,style:n,target:t="_blank",...r},i)=>{let{paddingTop:l,paddingRight:a,
paddingBottom:u,paddingLeft:o}=uo(n??{}),c=Zi((l??0)+(u??0)),[f,s]=co(o??0),[h,d]=co(a??0);return(0,nt.jsxs)("a",{...r,ref:i,
style:{lineHeight:"100%",textDecoration:"none",display:"inline-block",maxWidth:"100%",msoPaddingAlt:"0px",...n,paddingTop:l,
paddingRight:a,paddingBottom:u,paddingLeft:o},target:t,children:[(0,nt.jsx)("span",{dangerouslySetInnerHTML:{__html:`<!-\
-[if mso]><i style="mso-font-width:${f*100}%;mso-text-raise:${c}px" hidden>${"&#8202;".repeat(s)}</i><![endif]-->`}}),(0,nt.jsx)(
"span",{style:{maxWidth:"100%",display:"inline-block",lineHeight:"120%",msoPaddingAlt:"0px",msoTextRaise:Zi(u)},children:e}),
(0,nt.jsx)("span",{dangerouslySetInnerHTML:{__html:`<!--[if mso]><i style="mso-font-width:${h*100}%" hidden>${"&#8202;".
repeat(d)}&#8203;</i><![endif]-->`}})]})});Ft.displayName="Button";le(Ft);var so=p(de(),1),Lt=p(m(),1),kn=so.forwardRef(({children:e,style:n={},tdClassName:t,...r},i)=>{let l={},a={},u=n;for(let o in u){
if(!Object.hasOwn(u,o))continue;let c=u[o];o.startsWith("padding")?l[o]=c:a[o]=c}return(0,Lt.jsx)("table",{align:"center",
width:"100%",...r,border:0,cellPadding:"0",cellSpacing:"0",ref:i,role:"presentation",style:{maxWidth:"37.5em",...a},children:(0,Lt.jsx)(
"tbody",{children:(0,Lt.jsx)("tr",{style:{width:"100%"},children:(0,Lt.jsx)("td",{className:t,style:l,children:e})})})})});
kn.displayName="Container";le(kn,{resolveTailwind(e,{style:n,className:t,classProperties:r}){let i=[],l=e.tdClassName?[e.
tdClassName]:[];for(let a of t?.split(" ")??[]){let u=r[a];u&&u.length>0&&u.every(o=>o.startsWith("padding"))?l.push(a):
i.push(a)}return{...e,style:n,className:i.length>0?i.join(" "):void 0,tdClassName:l.length>0?l.join(" "):void 0}}});var ho=p(de(),1),Dt=p(m(),1),Yr=ho.forwardRef(({children:e,...n},t)=>(0,Dt.jsxs)("head",{...n,ref:t,children:[(0,Dt.jsx)(
"meta",{content:"text/html; charset=UTF-8",httpEquiv:"Content-Type"}),(0,Dt.jsx)("meta",{name:"x-apple-disable-message-r\
eformatting"}),e]}));Yr.displayName="Head";var go=e=>{let n=[On(e.m,["margin"]),On(e.mx,["marginLeft","marginRight"]),On(e.my,["marginTop","marginBottom"]),On(e.mt,
["marginTop"]),On(e.mr,["marginRight"]),On(e.mb,["marginBottom"]),On(e.ml,["marginLeft"])],t={};for(let r of n)Object.keys(
r).length>0&&Object.assign(t,r);return t},On=(e,n)=>{let t={};if(e===void 0||Number.isNaN(Number.parseFloat(String(e))))
return t;for(let r of n)t[r]=`${e}px`;return t};var vo=p(de(),1),po=p(m(),1),Ht=vo.forwardRef(({as:e="h1",children:n,style:t,m:r,mx:i,my:l,mt:a,mr:u,mb:o,ml:c,...f},s)=>(0,po.jsx)(
e,{...f,ref:s,style:{...go({m:r,mx:i,my:l,mt:a,mr:u,mb:o,ml:c}),...t},children:n}));Ht.displayName="Heading";le(Ht);var yo=p(de(),1),bo=p(m(),1),Ur=yo.forwardRef(({children:e,lang:n="en",dir:t="ltr",...r},i)=>(0,bo.jsx)("html",{...r,dir:t,
lang:n,ref:i,children:e}));Ur.displayName="Html";var mo=p(de(),1),To=p(m(),1),Bt=mo.forwardRef(({alt:e,src:n,width:t,height:r,style:i,...l},a)=>(0,To.jsx)("img",{...l,alt:e??
"",height:r,ref:a,src:n,style:{display:"block",outline:"none",border:"none",textDecoration:"none",...i},width:t}));Bt.displayName=
"Img";le(Bt);var wo=p(de(),1),on=p(m(),1),Vi=200,Yt=wo.forwardRef(({children:e="",useTitleTag:n=!0,...t},r)=>{let i=(Array.isArray(e)?
e.join(""):e).substring(0,Vi);return(0,on.jsxs)(on.Fragment,{children:[n?(0,on.jsx)("title",{children:i}):null,(0,on.jsxs)(
"div",{style:{display:"none",overflow:"hidden",lineHeight:"1px",opacity:0,maxHeight:0,maxWidth:0},"data-skip-in-text":!0,
...t,ref:r,children:[i,Po(i)]})]})});Yt.displayName="Preview";le(Yt);var nf="\xA0\u200C\u200B\u200D\uFEFF",Po=e=>e.length>=
Vi?null:(0,on.jsx)("div",{children:nf.repeat(Vi-e.length)});var Eo=p(de(),1),Ut=p(m(),1),zt=Eo.forwardRef(({children:e,style:n={},tdClassName:t,...r},i)=>{let l={},a={},u=n;for(let o in u){
if(!Object.hasOwn(u,o))continue;let c=u[o];o.startsWith("padding")?l[o]=c:a[o]=c}return(0,Ut.jsx)("table",{align:"center",
width:"100%",border:0,cellPadding:"0",cellSpacing:"0",role:"presentation",...r,ref:i,style:a,children:(0,Ut.jsx)("tbody",
{children:(0,Ut.jsx)("tr",{children:(0,Ut.jsx)("td",{className:t,style:l,children:e})})})})});zt.displayName="Section";le(
zt,{resolveTailwind(e,{style:n,className:t,classProperties:r}){let i=[],l=e.tdClassName?[e.tdClassName]:[];for(let a of t?.
split(" ")??[]){let u=r[a];u&&u.length>0&&u.every(o=>o.startsWith("padding"))?l.push(a):i.push(a)}return{...e,style:n,className:i.
length>0?i.join(" "):void 0,tdClassName:l.length>0?l.join(" "):void 0}}});function tf(e){if(typeof e=="number")return{marginTop:e,marginBottom:e,marginLeft:e,marginRight:e};if(typeof e=="string"){
let n=e.toString().trim().split(/\s+/);if(n.length===1)return{marginTop:n[0],marginBottom:n[0],marginLeft:n[0],marginRight:n[0]};
if(n.length===2)return{marginTop:n[0],marginRight:n[1],marginBottom:n[0],marginLeft:n[1]};if(n.length===3)return{marginTop:n[0],
marginRight:n[1],marginBottom:n[2],marginLeft:n[1]};if(n.length===4)return{marginTop:n[0],marginRight:n[1],marginBottom:n[2],
marginLeft:n[3]}}return{marginTop:void 0,marginBottom:void 0,marginLeft:void 0,marginRight:void 0}}function Ro(e){let n={
marginTop:void 0,marginRight:void 0,marginBottom:void 0,marginLeft:void 0};for(let[t,r]of Object.entries(e))t==="margin"?
n=tf(r):t==="marginTop"?n.marginTop=r:t==="marginRight"?n.marginRight=r:t==="marginBottom"?n.marginBottom=r:t==="marginL\
eft"&&(n.marginLeft=r);return n}var xo=p(de(),1),Co=p(m(),1),ze=xo.forwardRef(({style:e,...n},t)=>{let r={};e?.marginTop===void 0&&(r.marginTop="16px"),
e?.marginBottom===void 0&&(r.marginBottom="16px");let i=Ro({...r,...e});return(0,Co.jsx)("p",{...n,ref:t,style:{fontSize:"\
14px",lineHeight:"24px",...e,...i}})});ze.displayName="Text";le(ze);var Se={page:"#f4f4f5",card:"#ffffff",border:"#e4e4e7",text:"#18181b",muted:"#52525b",action:"#1d4ed8",onAction:"#ffffff"},
tt={page:"#18181b",card:"#27272a",border:"#3f3f46",text:"#f4f4f5",muted:"#c4c4cc"},We={fontFamily:"-apple-system, BlinkM\
acSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",fontSize:"16px",lineHeight:"24px",color:Se.text},rf={wordBreak:"\
break-word",overflowWrap:"anywhere"},ae={page:{...We,...rf,margin:"0",padding:"24px 8px",backgroundColor:Se.page},card:{
maxWidth:"560px",padding:"28px 20px",backgroundColor:Se.card,border:`1px solid ${Se.border}`,borderRadius:"8px"},heading:{
...We,margin:"0 0 20px",fontSize:"22px",lineHeight:"28px",fontWeight:600},text:{...We,margin:"0 0 16px"},details:{width:"\
100%",margin:"0 0 24px",borderCollapse:"collapse",tableLayout:"fixed"},label:{...We,width:"36%",padding:"10px 12px 10px \
0",borderTop:`1px solid ${Se.border}`,color:Se.muted,fontSize:"14px",fontWeight:400,textAlign:"left",verticalAlign:"top"},
value:{...We,fontSize:"15px",padding:"10px 0",borderTop:`1px solid ${Se.border}`,verticalAlign:"top"},action:{...We,padding:"\
12px 20px",borderRadius:"6px",backgroundColor:Se.action,color:Se.onAction,fontWeight:600},brand:{maxWidth:"560px",padding:"\
0 4px"},logo:{margin:"0 0 16px"},name:{...We,margin:"0 0 16px",fontSize:"18px",fontWeight:600},footer:{...We,margin:"16p\
x 0 0",color:Se.muted,fontSize:"13px",lineHeight:"20px",whiteSpace:"pre-line"},note:{...We,margin:"24px 0 0",color:Se.muted,
fontSize:"14px",lineHeight:"20px"}};function Ao(e){if(e===void 0)return{};let[n=0,t=0,r=0]=[1,3,5].map(a=>lf(parseInt(e.
slice(a,a+2),16)/255)),i=.2126*n+.7152*t+.0722*r,l=1.05/(i+.05)>(i+.05)/.05;return{backgroundColor:e,color:l?"#ffffff":"\
#000000"}}function lf(e){return e<=.04045?e/12.92:((e+.055)/1.055)**2.4}var Z={page:"dark-page",card:"dark-card",text:"d\
ark-text",muted:"dark-muted",line:"dark-line"},No=`
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .${Z.page}, .${Z.page} > table > tbody > tr > td { background-color: ${tt.page} !important; }
  .${Z.card} { background-color: ${tt.card} !important; border-color: ${tt.border} !important; }
  .${Z.text} { color: ${tt.text} !important; }
  .${Z.muted} { color: ${tt.muted} !important; }
  .${Z.line} { border-color: ${tt.border} !important; }
}`;var P=p(m(),1);function x({subject:e,preview:n,heading:t,displayName:r,body:i,details:l,action:a,note:u,look:o={}}){return(0,P.jsxs)(
Ur,{lang:"en",children:[(0,P.jsxs)(Yr,{children:[(0,P.jsx)("meta",{name:"viewport",content:"width=device-width, initial-\
scale=1"}),(0,P.jsx)("meta",{name:"color-scheme",content:"light dark"}),(0,P.jsx)("meta",{name:"supported-color-schemes",
content:"light dark"}),(0,P.jsx)("title",{children:e}),(0,P.jsx)("style",{children:No})]}),(0,P.jsxs)(It,{className:Z.page,
style:ae.page,children:[(0,P.jsx)(Yt,{useTitleTag:!1,children:n}),(0,P.jsx)(af,{look:o}),(0,P.jsxs)(kn,{className:Z.card,
style:ae.card,children:[(0,P.jsx)(Ht,{className:Z.text,style:ae.heading,children:t}),(0,P.jsx)(ze,{className:Z.text,style:ae.
text,children:(0,P.jsx)(uf,{name:r.trim()})}),(0,P.jsx)(ze,{className:Z.text,style:ae.text,children:i}),(0,P.jsx)(cf,{details:l}),
(0,P.jsx)(zt,{children:(0,P.jsx)(Ft,{href:So(a.url),style:{...ae.action,...Ao(o.accent)},children:a.label})}),(0,P.jsx)(
ze,{className:Z.muted,style:ae.note,children:u})]}),(0,P.jsx)(of,{look:o})]})]})}function af({look:{brand:e,logoUrl:n}}){
return!e&&!n?null:(0,P.jsx)(kn,{style:ae.brand,children:n?(0,P.jsx)(Bt,{src:So(n),alt:e??"",height:"32",style:ae.logo}):
(0,P.jsx)(ze,{className:Z.text,style:ae.name,children:e})})}function of({look:{footer:e}}){return e?(0,P.jsx)(kn,{style:ae.
brand,children:(0,P.jsx)(ze,{className:Z.muted,style:ae.footer,children:e})}):null}function uf({name:e}){return e===""?"\
Hello,":(0,P.jsxs)(P.Fragment,{children:["Hello ",(0,P.jsx)("bdi",{children:e}),","]})}function cf({details:e}){return(0,P.jsx)(
"table",{width:"100%",cellPadding:"0",cellSpacing:"0",style:ae.details,children:(0,P.jsx)("tbody",{children:e.map(({label:n,
value:t})=>(0,P.jsxs)("tr",{children:[(0,P.jsx)("th",{scope:"row",className:`${Z.muted} ${Z.line}`,style:ae.label,children:n}),
(0,P.jsx)("td",{className:`${Z.text} ${Z.line}`,style:ae.value,children:(0,P.jsx)("bdi",{children:t})})]},n))})})}function So(e){
if(!/^https?:$/.test(new URL(e).protocol))throw new Error("A mail links to http(s) addresses only");return e}var ko=p(m(),1);function Qi({displayName:e,planName:n,amount:t,interval:r,startsOn:i,undoUntil:l,pricingUrl:a}){return{subject:`\
Your plan changes to ${n} on ${i}`,preview:`${t} ${r}, for the first time on ${i}.`,heading:"Your plan will change",displayName:e,
body:`Your ${n} plan starts on ${i}. Until then you keep the plan that you have. On that day ${t} will be charged, then ${t}\
 ${r}. `+(l===null?"The change cannot be undone any more.":`You can undo the change until ${l} on the page of your plan.`),
details:[{label:"Plan",value:n},{label:"Price",value:`${t} ${r}`},{label:"Starts on",value:i},...l===null?[]:[{label:"Un\
do until",value:l}]],action:{label:"See the plans",url:a},note:"If you have undone the change since, there is nothing le\
ft to do."}}function _o(e){return(0,ko.jsx)(x,{...Qi(e)})}_o.PreviewProps={displayName:"Asha Rao",planName:"Premium",amount:"\
\u20B91,499.00",interval:"every month",startsOn:"20 November 2027",undoUntil:"18 November 2027",pricingUrl:"https://app.\
example.com/pricing"};function rt(e){return e===null?"Nothing more is charged.":`The next charge is ${e.amount} on ${e.on}.`}function zr({planName:e,validUntil:n,nextPlanName:t,nextCharge:r}){let l=(r===null||t!==null)&&n!==null?` and is valid u\
ntil ${n}`:"",a=t===null?"":` Then your ${t} plan starts.`;return`Your ${e} plan goes on${l}.${a} ${rt(r)}`}function Wr({
displayName:e,planName:n,validUntil:t,nextPlanName:r,nextCharge:i,pricingUrl:l}){return{displayName:e,details:[{label:"P\
lan",value:n},...r===null?[]:[{label:"Next plan",value:r}],...i===null?[]:[{label:"Next payment",value:`${i.amount} on ${i.
on}`}],...i!==null||t===null?[]:[{label:"Valid until",value:t}]],action:{label:"See the plans",url:l},note:"If you have \
changed or cancelled it since, there is nothing left to do."}}var Mo=p(m(),1);function Ji(e){return{subject:`Your ${e.planName} plan stays`,preview:"The change of your plan is undone\
.",heading:"The change is undone",body:`You have undone the change of your plan. ${zr(e)}`,...Wr(e)}}function Oo(e){return(0,Mo.jsx)(
x,{...Ji(e)})}Oo.PreviewProps={displayName:"Asha Rao",planName:"Pro",validUntil:"20 November 2027",nextPlanName:null,nextCharge:{
amount:"\u20B91,499.00",on:"20 November 2027"},pricingUrl:"https://app.example.com/pricing"};var Fo=p(m(),1);function Ki({displayName:e,planName:n,amount:t,reason:r,retryUrl:i}){return{subject:`Your payment for th\
e ${n} plan failed`,preview:`${t} could not be charged. You can try again.`,heading:"Payment failed",displayName:e,body:"\
Your payment did not go through. This attempt has not changed your subscription, and you can try again.",details:[{label:"\
Plan",value:n},{label:"Amount",value:t},...r?.trim()?[{label:"Reason",value:r}]:[]],action:{label:"Try again",url:i},note:"\
If you have paid since with another attempt, there is nothing left to do."}}function Io(e){return(0,Fo.jsx)(x,{...Ki(e)})}
Io.PreviewProps={displayName:"Asha Rao",planName:"Pro",amount:"\u20B9999.00",reason:"Your payment was declined by the ba\
nk. Try another payment method.",retryUrl:"https://app.example.com/pricing"};var Gr="You also have other access, which is not affected.";function Xr({planName:e,amount:n,accessEndsOn:t}){return[{label:"\
Plan",value:e},...n===void 0?[]:[{label:"Not charged",value:n}],...t===null?[]:[{label:"Without a payment",value:`Access\
 until ${t}`}]]}function Zr({manageUrl:e,pricingUrl:n}){return e===null?{label:"See the plans",url:n}:{label:"Manage you\
r payment",url:e}}var Do=p(m(),1);function qi(e){let{displayName:n,planName:t,accessEndsOn:r}=e,i=r===null?Gr:`If no payment succeeds, you\
r access ends on ${r}.`;return{subject:`Your ${t} plan could not be renewed yet`,preview:"The payment did not go through\
. It will be tried again automatically.",heading:"Your plan could not be renewed yet",displayName:n,body:`The payment fo\
r the next period of your ${t} plan did not go through. It will be tried again automatically over the next few days. Ple\
ase check that your payment method works. ${i}`,details:Xr(e),action:Zr(e),note:"If you have paid since, there is nothin\
g left to do."}}function Lo(e){return(0,Do.jsx)(x,{...qi(e)})}Lo.PreviewProps={displayName:"Asha Rao",planName:"Pro",amount:"\
\u20B91,499.00",accessEndsOn:"20 November 2027",manageUrl:"https://gateway.example.com/s/29QQoUBi66xm2f",pricingUrl:"htt\
ps://app.example.com/pricing"};var Bo=p(m(),1);function ji(e){let{displayName:n,planName:t,refunded:r,paid:i,paidOn:l,transactionId:a,accessEndsOn:u,pricingUrl:o}=e;
return{subject:`${r} was refunded`,preview:`Of your payment of ${i} for the ${t} plan.`,heading:"Your refund",displayName:n,
body:`${r} of your payment of ${i} for the ${t} plan was refunded. ${ff(e)} ${rt(e.nextCharge)} Your bank may need some \
days to show the refund.`,details:[{label:"Plan",value:t},{label:"Refunded",value:r},{label:"Payment",value:`${i} on ${l}`},
{label:"Transaction ID",value:a},...u===null?[]:[{label:"Access until",value:u}]],action:{label:"See the plans",url:o},note:"\
Keep this e-mail for your records. If you have a question about this refund, quote the transaction ID."}}function ff({accessPlanName:e,
accessEndsOn:n}){if(e===null)return"You have no access to a plan now.";let t=n===null?"":` and is valid until ${n}`;return`\
Your ${e} plan remains${t}.`}function Ho(e){return(0,Bo.jsx)(x,{...ji(e)})}Ho.PreviewProps={displayName:"Asha Rao",planName:"\
Pro",refunded:"\u20B9499.00",paid:"\u20B91,499.00",paidOn:"1 November 2027",transactionId:"pay_29QQoUBi66xm2f",accessPlanName:"\
Pro",accessEndsOn:"20 November 2027",nextCharge:{amount:"\u20B91,499.00",on:"20 November 2027"},pricingUrl:"https://app.\
example.com/pricing"};function Vr({planName:e,amount:n,validUntil:t,nextPaymentOn:r,transactionId:i}){return[{label:"Plan",value:e},{label:"Am\
ount paid",value:n},{label:"Valid until",value:t},...r===void 0?[]:[{label:"Next payment",value:r}],{label:"Transaction \
ID",value:i}]}var Qr="Keep this e-mail for your records. If you have a question about this payment, quote the transactio\
n ID.";var Uo=p(m(),1);function $i(e){let{displayName:n,planName:t,amount:r,validUntil:i,dashboardUrl:l}=e;return{subject:`Paym\
ent received: your ${t} plan is active`,preview:`${r} paid. Your plan is valid until ${i}.`,heading:"Payment received",displayName:n,
body:"Thank you. We have received your payment, and your plan is active.",details:Vr(e),action:{label:"Open your dashboa\
rd",url:l},note:Qr}}function Yo(e){return(0,Uo.jsx)(x,{...$i(e)})}Yo.PreviewProps={displayName:"Asha Rao",planName:"Pro",
amount:"\u20B9999.00",transactionId:"pay_29QQoUBi66xm2f",validUntil:"20 November 2027",dashboardUrl:"https://app.example\
.com/dashboard"};function zo({heading:e,displayName:n,body:t,details:r,action:i,note:l},{brand:a,footer:u}){let o=n.trim();return`${[...a?
[a]:[],e,o===""?"Hello,":`Hello ${o},`,t,r.map(({label:f,value:s})=>`${f}: ${s}`).join(`
`),`${i.label}: ${i.url}`,l,...u?[u]:[]].join(`

`)}
`}var Go=p(m(),1);function el(e){let{displayName:n,planName:t,oldPlanName:r,credit:i,amount:l,validUntil:a,nextCharge:u,isAuthorised:o,
pricingUrl:c}=e;return{subject:`Your plan is ${t} now`,preview:`Your ${r} plan has ended, and ${i} of it was credited.`,
heading:"Your plan is changed",displayName:n,body:`Your ${t} plan has begun, and your ${r} plan has ended. For the unuse\
d time of the old plan ${i} was credited, and you paid ${l}. Your plan is valid until ${a}. ${sf(e)}`,details:[{label:"P\
lan",value:t},{label:"Credit",value:i},{label:"Amount paid",value:l},{label:"Valid until",value:a},...u===null||!o?[]:[{
label:"Next payment",value:`${u.amount} on ${u.on}`}]],action:{label:"See the plans",url:c},note:"If you have changed or\
 cancelled it since, there is nothing left to do."}}function sf({nextCharge:e,isAuthorised:n}){if(e===null)return"It doe\
s not renew by itself.";let t=`The next charge is ${e.amount} on ${e.on}`;return n?`${t}.`:`${t}, once you have authoris\
ed it.`}function Wo(e){return(0,Go.jsx)(x,{...el(e)})}Wo.PreviewProps={displayName:"Asha Rao",planName:"Pro",oldPlanName:"\
Basic",credit:"\u20B949.00",amount:"\u20B91,450.00",validUntil:"20 November 2027",nextCharge:{amount:"\u20B91,499.00",on:"\
20 November 2027"},isAuthorised:!1,pricingUrl:"https://app.example.com/pricing"};var Zo=p(m(),1);function nl(e){let{displayName:n,title:t,documentNumber:r,date:i,total:l,dashboardUrl:a}=e;return{subject:`${t}\
 ${r}`,preview:`Of ${i}, ${l}.`,heading:t,displayName:n,body:`Attached is the document ${r} of ${i}.`,details:[{label:"N\
umber",value:r},{label:"Date",value:i},{label:"Total",value:l}],action:{label:"Open your dashboard",url:a},note:"Keep th\
is e-mail for your records."}}function Xo(e){return(0,Zo.jsx)(x,{...nl(e)})}Xo.PreviewProps={displayName:"Asha Rao",title:"\
Tax invoice",documentNumber:"2728/000102",date:"20 November 2027",total:"\u20B91,499.00",dashboardUrl:"https://app.examp\
le.com/dashboard"};var Jo=p(m(),1);function tl(e){let{displayName:n,planName:t,accessEndsOn:r,isEnded:i,resumeUntil:l,pricingUrl:a}=e;return{
subject:`Your ${t} subscription is cancelled`,preview:`Nothing more will be charged for it. ${Vo(e)}`,heading:"Your subs\
cription is cancelled",displayName:n,body:`You have cancelled your ${t} subscription. Nothing more will be charged for i\
t. ${Vo(e)}`+(l===null?"":` You can resume the subscription until ${l}.`),details:[{label:"Plan",value:t},...r===null?[]:
[{label:i?"Access ended on":"Access until",value:r}],...l===null?[]:[{label:"Resume until",value:l}]],action:{label:"See\
 the plans",url:a},note:"If you have resumed it or bought a plan since, there is nothing left to do."}}function Vo({accessEndsOn:e,
isEnded:n}){return e!==null?`Your access ${n?"ended on":"lasts until"} ${e}.`:n?"You have no access to a plan now.":"You\
r other access continues."}function Qo(e){return(0,Jo.jsx)(x,{...tl(e)})}Qo.PreviewProps={displayName:"Asha Rao",planName:"\
Pro",accessEndsOn:"20 November 2027",isEnded:!1,resumeUntil:"18 November 2027",pricingUrl:"https://app.example.com/prici\
ng"};var qo=p(m(),1);function rl({displayName:e,planName:n,endsOn:t,accessEndsOn:r,pricingUrl:i}){return{subject:`Your ${n} s\
ubscription is complete`,preview:`The last payment was made. The plan is paid until ${t}.`,heading:"Your subscription is\
 complete",displayName:e,body:`The last payment of your ${n} subscription was made. Nothing more will be charged for it.\
 The plan is paid until ${t}. ${df(t,r)} You can choose a plan again on that day or later.`,details:[{label:"Plan",value:n},
{label:"Paid until",value:t}],action:{label:"See the plans",url:i},note:"If you have bought a plan since, or do not want\
 to go on, there is nothing left to do."}}function df(e,n){return n===null?"After that, your other access continues.":n===
e?"After that, your access ends.":`Your access ends on ${n}.`}function Ko(e){return(0,qo.jsx)(x,{...rl(e)})}Ko.PreviewProps=
{displayName:"Asha Rao",planName:"Pro",endsOn:"20 November 2027",accessEndsOn:"20 November 2027",pricingUrl:"https://app\
.example.com/pricing"};var $o=p(m(),1);function il({displayName:e,planName:n,endsOn:t,accessEndedOn:r=t,pricingUrl:i,refunded:l,nextCharge:a=null}){
return{subject:`Your ${n} plan has ended`,preview:`Your access ended on ${r}.`,heading:"Your access has ended",displayName:e,
body:l===void 0?`Your access to the ${n} plan ended on ${r}. You can come back at any time.`:`Your access to the ${n} pl\
an ended on ${t}, because ${l} was refunded. `+rt(a),details:[{label:"Plan",value:n},...r===t?[]:[{label:"Paid until",value:t}],
{label:"Ended on",value:r},...l===void 0?[]:[{label:"Refunded",value:l}]],action:{label:"See the plans",url:i},note:"If \
you have bought a plan since, there is nothing left to do."}}function jo(e){return(0,$o.jsx)(x,{...il(e)})}jo.PreviewProps=
{displayName:"Asha Rao",planName:"Pro",endsOn:"20 November 2027",pricingUrl:"https://app.example.com/pricing"};var nu=p(m(),1);function ll({displayName:e,planName:n,endsOn:t,pricingUrl:r,earlyRenewal:i}){let{preview:l,advice:a,action:u}=hf[i];
return{subject:`Your ${n} plan ends on ${t}`,preview:l,heading:"Your access ends soon",displayName:e,body:`Your plan is \
valid until ${t}. After that your access ends. ${a}`,details:[{label:"Plan",value:n},{label:"Valid until",value:t}],action:{
label:u,url:r},note:"If you have bought a plan since, or do not want to go on, there is nothing left to do."}}var hf={replace:{
preview:"You can buy it again on that day or later.",advice:"You can buy the plan again on that day or later.",action:"S\
ee the plans"},extend:{preview:"If you renew it before then, you lose no day.",advice:"To keep your access, renew your p\
lan before then: the new period is added to this one, and you lose no day.",action:"Renew your plan"}};function eu(e){return(0,nu.jsx)(
x,{...ll(e)})}eu.PreviewProps={displayName:"Asha Rao",planName:"Pro",endsOn:"20 November 2027",pricingUrl:"https://app.e\
xample.com/pricing",earlyRenewal:"replace"};var ru=p(m(),1);function al(e){let{displayName:n,planName:t,accessEndsOn:r,manageUrl:i}=e,l=r===null?Gr:`Without a payme\
nt, your access lasts until ${r}.`,a=i===null?"To continue, choose a plan again.":"To continue, pay or change your payme\
nt method.";return{subject:`Your ${t} plan could not be renewed`,preview:"The payment did not go through. It will not be\
 tried again automatically.",heading:"Your plan could not be renewed",displayName:n,body:`The payment for the next perio\
d of your ${t} plan did not go through, and all further attempts failed. It will not be tried again automatically. ${l} ${a}`,
details:Xr(e),action:Zr(e),note:"If you have paid since, or do not want to go on, there is nothing left to do."}}function tu(e){
return(0,ru.jsx)(x,{...al(e)})}tu.PreviewProps={displayName:"Asha Rao",planName:"Pro",amount:"\u20B91,499.00",accessEndsOn:"\
20 November 2027",manageUrl:"https://gateway.example.com/s/29QQoUBi66xm2f",pricingUrl:"https://app.example.com/pricing"};var lu=p(m(),1);function ol(e){let{displayName:n,planName:t,amount:r,validUntil:i,dashboardUrl:l}=e;return{subject:`Your\
 ${t} plan has been renewed`,preview:`${r} paid. Your plan is valid until ${i}.`,heading:"Your plan has been renewed",displayName:n,
body:"Thank you. We have received your payment, and your plan has been renewed.",details:Vr(e),action:{label:"Open your \
dashboard",url:l},note:Qr}}function iu(e){return(0,lu.jsx)(x,{...ol(e)})}iu.PreviewProps={displayName:"Asha Rao",planName:"\
Pro",amount:"\u20B91,499.00",transactionId:"pay_29QQoUBi66xm2f",validUntil:"20 November 2027",nextPaymentOn:"20 November\
 2027",dashboardUrl:"https://app.example.com/dashboard"};var ou=p(m(),1);function ul(e){return{subject:`Your ${e.planName} subscription is resumed`,preview:"Your cancellation is\
 withdrawn.",heading:"Your subscription is resumed",body:`You have withdrawn your cancellation. ${zr(e)}`,...Wr(e)}}function au(e){
return(0,ou.jsx)(x,{...ul(e)})}au.PreviewProps={displayName:"Asha Rao",planName:"Pro",validUntil:"20 November 2027",nextPlanName:null,
nextCharge:{amount:"\u20B91,499.00",on:"20 November 2027"},pricingUrl:"https://app.example.com/pricing"};var wd={paymentSuccess:(e,n)=>fe($i(e),n),paymentFailed:(e,n)=>fe(Ki(e),n),paymentPending:(e,n)=>fe(qi(e),n),paymentRefunded:(e,n)=>fe(
ji(e),n),receiptIssued:(e,n)=>fe(nl(e),n),changeScheduled:(e,n)=>fe(Qi(e),n),changeUndone:(e,n)=>fe(Ji(e),n),planChanged:(e,n)=>fe(
el(e),n),subscriptionResumed:(e,n)=>fe(ul(e),n),subscriptionCancelled:(e,n)=>fe(tl(e),n),subscriptionRenewed:(e,n)=>fe(ol(
e),n),subscriptionHalted:(e,n)=>fe(al(e),n),subscriptionCompleted:(e,n)=>fe(rl(e),n),subscriptionEnding:(e,n)=>fe(ll(e),
n),subscriptionEnded:(e,n)=>fe(il(e),n)},gf='<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.\
w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">';function fe(e,n={}){return{subject:e.subject.replace(/[\s\p{Cc}]+/gu," "),
html:gf+(0,cu.renderToStaticMarkup)((0,uu.createElement)(x,{...e,look:n})),text:zo(e,n)}}export{wd as mails};
/*! Bundled license information:

react/cjs/react.production.js:
  (**
   * @license React
   * react.production.js
   *
   * Copyright (c) Meta Platforms, Inc. and affiliates.
   *
   * This source code is licensed under the MIT license found in the
   * LICENSE file in the root directory of this source tree.
   *)

react-dom/cjs/react-dom.production.js:
  (**
   * @license React
   * react-dom.production.js
   *
   * Copyright (c) Meta Platforms, Inc. and affiliates.
   *
   * This source code is licensed under the MIT license found in the
   * LICENSE file in the root directory of this source tree.
   *)

react-dom/cjs/react-dom-server-legacy.browser.production.js:
  (**
   * @license React
   * react-dom-server-legacy.browser.production.js
   *
   * Copyright (c) Meta Platforms, Inc. and affiliates.
   *
   * This source code is licensed under the MIT license found in the
   * LICENSE file in the root directory of this source tree.
   *)

react/cjs/react-jsx-runtime.production.js:
  (**
   * @license React
   * react-jsx-runtime.production.js
   *
   * Copyright (c) Meta Platforms, Inc. and affiliates.
   *
   * This source code is licensed under the MIT license found in the
   * LICENSE file in the root directory of this source tree.
   *)
*/
