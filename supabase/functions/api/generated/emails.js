// GENERATED from emails/ by `npm run generate`. DO NOT EDIT.
// Contains react, react-dom, react-email.
// @ts-self-types="./emails.d.ts"
var Wo=Object.create;var hl=Object.defineProperty;var Go=Object.getOwnPropertyDescriptor;var Xo=Object.getOwnPropertyNames;var Zo=Object.getPrototypeOf,Vo=Object.prototype.hasOwnProperty;var Ee=(n,e)=>()=>{try{return e||n((e={exports:{}}).exports,e),e.exports}catch(t){throw e=0,t}};var Qo=(n,e,t,r)=>{if(e&&typeof e=="object"||typeof e=="function")for(let i of Xo(e))!Vo.call(n,i)&&i!==t&&hl(n,i,{get:()=>e[i],
enumerable:!(r=Go(e,i))||r.enumerable});return n};var p=(n,e,t)=>(t=n!=null?Wo(Zo(n)):{},Qo(e||!n||!n.__esModule?hl(t,"default",{value:n,enumerable:!0}):t,n));var Pl=Ee(y=>{"use strict";var ii=Symbol.for("react.transitional.element"),Jo=Symbol.for("react.portal"),Ko=Symbol.for("\
react.fragment"),qo=Symbol.for("react.strict_mode"),jo=Symbol.for("react.profiler"),$o=Symbol.for("react.consumer"),nu=Symbol.
for("react.context"),eu=Symbol.for("react.forward_ref"),tu=Symbol.for("react.suspense"),ru=Symbol.for("react.memo"),bl=Symbol.
for("react.lazy"),iu=Symbol.for("react.activity"),lu=Symbol.for("react.view_transition"),dl=Symbol.iterator;function au(n){
return n===null||typeof n!="object"?null:(n=dl&&n[dl]||n["@@iterator"],typeof n=="function"?n:null)}var pl={isMounted:function(){
return!1},enqueueForceUpdate:function(){},enqueueReplaceState:function(){},enqueueSetState:function(){}},Tl=Object.assign,
wl={};function Ve(n,e,t){this.props=n,this.context=e,this.refs=wl,this.updater=t||pl}Ve.prototype.isReactComponent={};Ve.
prototype.setState=function(n,e){if(typeof n!="object"&&typeof n!="function"&&n!=null)throw Error("takes an object of st\
ate variables to update or a function which returns an object of state variables.");this.updater.enqueueSetState(this,n,
e,"setState")};Ve.prototype.forceUpdate=function(n){this.updater.enqueueForceUpdate(this,n,"forceUpdate")};function El(){}
El.prototype=Ve.prototype;function li(n,e,t){this.props=n,this.context=e,this.refs=wl,this.updater=t||pl}var ai=li.prototype=
new El;ai.constructor=li;Tl(ai,Ve.prototype);ai.isPureReactComponent=!0;var gl=Array.isArray;function ri(){}var k={H:null,
A:null,T:null,S:null},ml=Object.prototype.hasOwnProperty;function oi(n,e,t){var r=t.ref;return{$$typeof:ii,type:n,key:e,
ref:r!==void 0?r:null,props:t}}function ou(n,e){return oi(n.type,e,n.props)}function ui(n){return typeof n=="object"&&n!==
null&&n.$$typeof===ii}function uu(n){var e={"=":"=0",":":"=2"};return"$"+n.replace(/[=:]/g,function(t){return e[t]})}var vl=/\/+/g;
function ti(n,e){return typeof n=="object"&&n!==null&&n.key!=null?uu(""+n.key):e.toString(36)}function cu(n){switch(n.status){case"\
fulfilled":return n.value;case"rejected":throw n.reason;default:switch(typeof n.status=="string"?n.then(ri,ri):(n.status=
"pending",n.then(function(e){n.status==="pending"&&(n.status="fulfilled",n.value=e)},function(e){n.status==="pending"&&(n.
status="rejected",n.reason=e)})),n.status){case"fulfilled":return n.value;case"rejected":throw n.reason}}throw n}function Ze(n,e,t,r,i){
var l=typeof n;(l==="undefined"||l==="boolean")&&(n=null);var a=!1;if(n===null)a=!0;else switch(l){case"bigint":case"str\
ing":case"number":a=!0;break;case"object":switch(n.$$typeof){case ii:case Jo:a=!0;break;case bl:return a=n._init,Ze(a(n.
_payload),e,t,r,i)}}if(a)return i=i(n),a=r===""?"."+ti(n,0):r,gl(i)?(t="",a!=null&&(t=a.replace(vl,"$&/")+"/"),Ze(i,e,t,
"",function(c){return c})):i!=null&&(ui(i)&&(i=ou(i,t+(i.key==null||n&&n.key===i.key?"":(""+i.key).replace(vl,"$&/")+"/")+
a)),e.push(i)),1;a=0;var u=r===""?".":r+":";if(gl(n))for(var o=0;o<n.length;o++)r=n[o],l=u+ti(r,o),a+=Ze(r,e,t,l,i);else if(o=
au(n),typeof o=="function")for(n=o.call(n),o=0;!(r=n.next()).done;)r=r.value,l=u+ti(r,o++),a+=Ze(r,e,t,l,i);else if(l===
"object"){if(typeof n.then=="function")return Ze(cu(n),e,t,r,i);throw e=String(n),Error("Objects are not valid as a Reac\
t child (found: "+(e==="[object Object]"?"object with keys {"+Object.keys(n).join(", ")+"}":e)+"). If you meant to rende\
r a collection of children, use an array instead.")}return a}function er(n,e,t){if(n==null)return n;var r=[],i=0;return Ze(
n,r,"","",function(l){return e.call(t,l,i++)}),r}function fu(n){if(n._status===-1){var e=n._result,t=e();t.then(function(r){
(n._status===0||n._status===-1)&&(n._status=1,n._result=r,t.status===void 0&&(t.status="fulfilled",t.value=r))},function(r){
(n._status===0||n._status===-1)&&(n._status=2,n._result=r,t.status===void 0&&(t.status="rejected",t.reason=r))}),n._status===
-1&&(n._status=0,n._result=t)}if(n._status===1)return n._result.default;throw n._result}var yl=typeof reportError=="func\
tion"?reportError:function(n){if(typeof window=="object"&&typeof window.ErrorEvent=="function"){var e=new window.ErrorEvent(
"error",{bubbles:!0,cancelable:!0,message:typeof n=="object"&&n!==null&&typeof n.message=="string"?String(n.message):String(
n),error:n});if(!window.dispatchEvent(e))return}else if(typeof process=="object"&&typeof process.emit=="function"){process.
emit("uncaughtException",n);return}console.error(n)};function Rl(n){var e=k.T,t={};t.types=e!==null?e.types:null,k.T=t;try{
var r=n(),i=k.S;i!==null&&i(t,r),typeof r=="object"&&r!==null&&typeof r.then=="function"&&r.then(ri,yl)}catch(l){yl(l)}finally{
e!==null&&t.types!==null&&(e.types=t.types),k.T=e}}function xl(n){var e=k.T;if(e!==null){var t=e.types;t===null?e.types=
[n]:t.indexOf(n)===-1&&t.push(n)}else Rl(xl.bind(null,n))}var su={map:er,forEach:function(n,e,t){er(n,function(){e.apply(
this,arguments)},t)},count:function(n){var e=0;return er(n,function(){e++}),e},toArray:function(n){return er(n,function(e){
return e})||[]},only:function(n){if(!ui(n))throw Error("React.Children.only expected to receive a single React element c\
hild.");return n}};y.Activity=iu;y.Children=su;y.Component=Ve;y.Fragment=Ko;y.Profiler=jo;y.PureComponent=li;y.StrictMode=
qo;y.Suspense=tu;y.ViewTransition=lu;y.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE=k;y.__COMPILER_RUNTIME=
{__proto__:null,c:function(n){return k.H.useMemoCache(n)}};y.addTransitionType=xl;y.cache=function(n){return function(){
return n.apply(null,arguments)}};y.cacheSignal=function(){return null};y.cloneElement=function(n,e,t){if(n==null)throw Error(
"The argument must be a React element, but you passed "+n+".");var r=Tl({},n.props),i=n.key;if(e!=null)for(l in e.key!==
void 0&&(i=""+e.key),e)!ml.call(e,l)||l==="key"||l==="__self"||l==="__source"||l==="ref"&&e.ref===void 0||(r[l]=e[l]);var l=arguments.
length-2;if(l===1)r.children=t;else if(1<l){for(var a=Array(l),u=0;u<l;u++)a[u]=arguments[u+2];r.children=a}return oi(n.
type,i,r)};y.createContext=function(n){return n={$$typeof:nu,_currentValue:n,_currentValue2:n,_threadCount:0,Provider:null,
Consumer:null},n.Provider=n,n.Consumer={$$typeof:$o,_context:n},n};y.createElement=function(n,e,t){var r,i={},l=null;if(e!=
null)for(r in e.key!==void 0&&(l=""+e.key),e)ml.call(e,r)&&r!=="key"&&r!=="__self"&&r!=="__source"&&(i[r]=e[r]);var a=arguments.
length-2;if(a===1)i.children=t;else if(1<a){for(var u=Array(a),o=0;o<a;o++)u[o]=arguments[o+2];i.children=u}if(n&&n.defaultProps)
for(r in a=n.defaultProps,a)i[r]===void 0&&(i[r]=a[r]);return oi(n,l,i)};y.createRef=function(){return{current:null}};y.
forwardRef=function(n){return{$$typeof:eu,render:n}};y.isValidElement=ui;y.lazy=function(n){return{$$typeof:bl,_payload:{
_status:-1,_result:n},_init:fu}};y.memo=function(n,e){return{$$typeof:ru,type:n,compare:e===void 0?null:e}};y.startTransition=
Rl;y.unstable_useCacheRefresh=function(){return k.H.useCacheRefresh()};y.use=function(n){return k.H.use(n)};y.useActionState=
function(n,e,t){return k.H.useActionState(n,e,t)};y.useCallback=function(n,e){return k.H.useCallback(n,e)};y.useContext=
function(n){return k.H.useContext(n)};y.useDebugValue=function(){};y.useDeferredValue=function(n,e){return k.H.useDeferredValue(
n,e)};y.useEffect=function(n,e){return k.H.useEffect(n,e)};y.useEffectEvent=function(n){return k.H.useEffectEvent(n)};y.
useId=function(){return k.H.useId()};y.useImperativeHandle=function(n,e,t){return k.H.useImperativeHandle(n,e,t)};y.useInsertionEffect=
function(n,e){return k.H.useInsertionEffect(n,e)};y.useLayoutEffect=function(n,e){return k.H.useLayoutEffect(n,e)};y.useMemo=
function(n,e){return k.H.useMemo(n,e)};y.useOptimistic=function(n,e){return k.H.useOptimistic(n,e)};y.useReducer=function(n,e,t){
return k.H.useReducer(n,e,t)};y.useRef=function(n){return k.H.useRef(n)};y.useState=function(n){return k.H.useState(n)};
y.useSyncExternalStore=function(n,e,t){return k.H.useSyncExternalStore(n,e,t)};y.useTransition=function(){return k.H.useTransition()};
y.version="19.3.1"});var hn=Ee((Wc,Cl)=>{"use strict";Cl.exports=Pl()});var Sl=Ee(tn=>{"use strict";var hu=hn();function _l(n){var e="https://react.dev/errors/"+n;if(1<arguments.length){e+="?a\
rgs[]="+encodeURIComponent(arguments[1]);for(var t=2;t<arguments.length;t++)e+="&args[]="+encodeURIComponent(arguments[t])}
return"Minified React error #"+n+"; visit "+e+" for the full message or use the non-minified dev environment for full er\
rors and additional helpful warnings."}function ne(){}var cn={d:{f:ne,r:function(){throw Error(_l(522))},D:ne,C:ne,L:ne,
m:ne,X:ne,S:ne,M:ne},p:0,findDOMNode:null},du=Symbol.for("react.portal"),gu=Symbol.for("react.recoverable"),Al=Symbol.for(
"react.optimistic_key");function vu(n,e,t){var r=3<arguments.length&&arguments[3]!==void 0?arguments[3]:null;return{$$typeof:du,
key:r==null?null:r===Al?Al:""+r,children:n,containerInfo:e,implementation:t}}var yt=hu.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE;
function tr(n,e){if(n==="font")return"";if(typeof e=="string")return e==="use-credentials"?e:""}tn.__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE=
cn;tn.browser=function(n){return{$$typeof:gu,_reason:n}};tn.createPortal=function(n,e){var t=2<arguments.length&&arguments[2]!==
void 0?arguments[2]:null;if(!e||e.nodeType!==1&&e.nodeType!==9&&e.nodeType!==11)throw Error(_l(299));return vu(n,e,null,
t)};tn.flushSync=function(n){var e=yt.T,t=cn.p;try{if(yt.T=null,cn.p=2,n)return n()}finally{yt.T=e,cn.p=t,cn.d.f()}};tn.
preconnect=function(n,e){typeof n=="string"&&(e?(e=e.crossOrigin,e=typeof e=="string"?e==="use-credentials"?e:"":void 0):
e=null,cn.d.C(n,e))};tn.prefetchDNS=function(n){typeof n=="string"&&cn.d.D(n)};tn.preinit=function(n,e){if(typeof n=="st\
ring"&&e&&typeof e.as=="string"){var t=e.as,r=tr(t,e.crossOrigin),i=typeof e.integrity=="string"?e.integrity:void 0,l=typeof e.
fetchPriority=="string"?e.fetchPriority:void 0;t==="style"?cn.d.S(n,typeof e.precedence=="string"?e.precedence:void 0,{crossOrigin:r,
integrity:i,fetchPriority:l}):t==="script"&&cn.d.X(n,{crossOrigin:r,integrity:i,fetchPriority:l,nonce:typeof e.nonce=="s\
tring"?e.nonce:void 0})}};tn.preinitModule=function(n,e){if(typeof n=="string")if(typeof e=="object"&&e!==null){if(e.as==
null||e.as==="script"){var t=tr(e.as,e.crossOrigin);cn.d.M(n,{crossOrigin:t,integrity:typeof e.integrity=="string"?e.integrity:
void 0,nonce:typeof e.nonce=="string"?e.nonce:void 0,fetchPriority:typeof e.fetchPriority=="string"?e.fetchPriority:void 0})}}else
e==null&&cn.d.M(n)};tn.preload=function(n,e){if(typeof n=="string"&&typeof e=="object"&&e!==null&&typeof e.as=="string"){
var t=e.as,r=tr(t,e.crossOrigin);cn.d.L(n,t,{crossOrigin:r,integrity:typeof e.integrity=="string"?e.integrity:void 0,nonce:typeof e.
nonce=="string"?e.nonce:void 0,type:typeof e.type=="string"?e.type:void 0,fetchPriority:typeof e.fetchPriority=="string"?
e.fetchPriority:void 0,referrerPolicy:typeof e.referrerPolicy=="string"?e.referrerPolicy:void 0,imageSrcSet:typeof e.imageSrcSet==
"string"?e.imageSrcSet:void 0,imageSizes:typeof e.imageSizes=="string"?e.imageSizes:void 0,media:typeof e.media=="string"?
e.media:void 0})}};tn.preloadModule=function(n,e){if(typeof n=="string")if(e){var t=tr(e.as,e.crossOrigin);cn.d.m(n,{as:typeof e.
as=="string"&&e.as!=="script"?e.as:void 0,crossOrigin:t,integrity:typeof e.integrity=="string"?e.integrity:void 0,nonce:typeof e.
nonce=="string"?e.nonce:void 0,fetchPriority:typeof e.fetchPriority=="string"?e.fetchPriority:void 0})}else cn.d.m(n)};tn.
requestFormReset=function(n){cn.d.r(n)};tn.unstable_batchedUpdates=function(n,e){return n(e)};tn.useFormState=function(n,e,t){
return yt.H.useFormState(n,e,t)};tn.useFormStatus=function(){return yt.H.useHostTransitionStatus()};tn.version="19.3.1"});var Ml=Ee((Xc,Nl)=>{"use strict";function kl(){if(!(typeof __REACT_DEVTOOLS_GLOBAL_HOOK__>"u"||typeof __REACT_DEVTOOLS_GLOBAL_HOOK__.
checkDCE!="function"))try{__REACT_DEVTOOLS_GLOBAL_HOOK__.checkDCE(kl)}catch(n){console.error(n)}}kl(),Nl.exports=Sl()});var Xa=Ee(Lr=>{"use strict";var ca=hn(),yu=Ml();function v(n){var e="https://react.dev/errors/"+n;if(1<arguments.length){
e+="?args[]="+encodeURIComponent(arguments[1]);for(var t=2;t<arguments.length;t++)e+="&args[]="+encodeURIComponent(arguments[t])}
return"Minified React error #"+n+"; visit "+e+" for the full message or use the non-minified dev environment for full er\
rors and additional helpful warnings."}var fa=Symbol.for("react.transitional.element"),sa=Symbol.for("react.portal"),ha=Symbol.
for("react.fragment"),da=Symbol.for("react.strict_mode"),ga=Symbol.for("react.profiler"),va=Symbol.for("react.consumer"),
Ar=Symbol.for("react.context"),Pi=Symbol.for("react.forward_ref"),_r=Symbol.for("react.suspense"),Ci=Symbol.for("react.s\
uspense_list"),Ai=Symbol.for("react.memo"),Sr=Symbol.for("react.lazy"),bu=Symbol.for("react.scope"),ya=Symbol.for("react\
.activity"),pu=Symbol.for("react.legacy_hidden"),Tu=Symbol.for("react.memo_cache_sentinel"),_i=Symbol.for("react.view_tr\
ansition"),kr=Symbol.for("react.recoverable"),Ol=Symbol.iterator;function ba(n){return n===null||typeof n!="object"?null:
(n=Ol&&n[Ol]||n["@@iterator"],typeof n=="function"?n:null)}var wu=Symbol.for("react.optimistic_key"),dr=Array.isArray;function Fl(n,e){
var t=n.length&3,r=n.length-t,i=e;for(e=0;e<r;){var l=n.charCodeAt(e)&255|(n.charCodeAt(++e)&255)<<8|(n.charCodeAt(++e)&
255)<<16|(n.charCodeAt(++e)&255)<<24;++e,l=3432918353*(l&65535)+((3432918353*(l>>>16)&65535)<<16)&4294967295,l=l<<15|l>>>
17,l=461845907*(l&65535)+((461845907*(l>>>16)&65535)<<16)&4294967295,i^=l,i=i<<13|i>>>19,i=5*(i&65535)+((5*(i>>>16)&65535)<<
16)&4294967295,i=(i&65535)+27492+(((i>>>16)+58964&65535)<<16)}switch(l=0,t){case 3:l^=(n.charCodeAt(e+2)&255)<<16;case 2:
l^=(n.charCodeAt(e+1)&255)<<8;case 1:l^=n.charCodeAt(e)&255,l=3432918353*(l&65535)+((3432918353*(l>>>16)&65535)<<16)&4294967295,
l=l<<15|l>>>17,i^=461845907*(l&65535)+((461845907*(l>>>16)&65535)<<16)&4294967295}return i^=n.length,i^=i>>>16,i=2246822507*
(i&65535)+((2246822507*(i>>>16)&65535)<<16)&4294967295,i^=i>>>13,i=3266489909*(i&65535)+((3266489909*(i>>>16)&65535)<<16)&
4294967295,(i^i>>>16)>>>0}var gn=Object.assign,F=Object.prototype.hasOwnProperty,Eu=RegExp("^[:A-Z_a-z\\u00C0-\\u00D6\\u00D\
8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\\
uFFFD][:A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\\
u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\-.0-9\\u00B7\\u0300-\\u036F\\u203F-\\u2040]*$"),Il={},Ll={};function Si(n){
return F.call(Ll,n)?!0:F.call(Il,n)?!1:Eu.test(n)?Ll[n]=!0:(Il[n]=!0,!1)}var mu=new Set("animationIterationCount aspectR\
atio borderImageOutset borderImageSlice borderImageWidth boxFlex boxFlexGroup boxOrdinalGroup columnCount columns flex f\
lexGrow flexPositive flexShrink flexNegative flexOrder gridArea gridRow gridRowEnd gridRowSpan gridRowStart gridColumn g\
ridColumnEnd gridColumnSpan gridColumnStart fontWeight lineClamp lineHeight opacity order orphans scale tabSize widows z\
Index zoom fillOpacity floodOpacity stopOpacity strokeDasharray strokeDashoffset strokeMiterlimit strokeOpacity strokeWi\
dth MozAnimationIterationCount MozBoxFlex MozBoxFlexGroup MozLineClamp msAnimationIterationCount msFlex msZoom msFlexGro\
w msFlexNegative msFlexOrder msFlexPositive msFlexShrink msGridColumn msGridColumnSpan msGridRow msGridRowSpan WebkitAni\
mationIterationCount WebkitBoxFlex WebKitBoxFlexGroup WebkitBoxOrdinalGroup WebkitColumnCount WebkitColumns WebkitFlex W\
ebkitFlexGrow WebkitFlexPositive WebkitFlexShrink WebkitLineClamp".split(" ")),Ru=new Map([["acceptCharset","accept-char\
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
Height","x-height"]]),xu=/["'&<>]/;function w(n){if(typeof n=="boolean"||typeof n=="number"||typeof n=="bigint")return""+
n;n=""+n;var e=xu.exec(n);if(e){var t="",r,i=0;for(r=e.index;r<n.length;r++){switch(n.charCodeAt(r)){case 34:e="&quot;";
break;case 38:e="&amp;";break;case 39:e="&#x27;";break;case 60:e="&lt;";break;case 62:e="&gt;";break;default:continue}i!==
r&&(t+=n.slice(i,r)),i=r+1,t+=e}n=i!==r?t+n.slice(i,r):t}return n}var Pu=/([A-Z])/g,Cu=/^ms-/,Au=/^[\u0000-\u001F ]*j[\r\n\t]*a[\r\n\t]*v[\r\n\t]*a[\r\n\t]*s[\r\n\t]*c[\r\n\t]*r[\r\n\t]*i[\r\n\t]*p[\r\n\t]*t[\r\n\t]*:/i;
function Et(n){return Au.test(""+n)?"javascript:throw new Error('React has blocked a javascript: URL as a security preca\
ution.')":n}var Qe=ca.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE,pa=yu.__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE,
_u={pending:!1,data:null,method:null,action:null},zn=pa.d;pa.d={f:zn.f,r:zn.r,D:Zu,C:Vu,L:Qu,m:Ju,X:qu,S:Ku,M:ju};var mn=[],
qe=null,Ta=/(<\/|<)(s)(cript)/gi;function wa(n,e,t,r){return""+e+(t==="s"?"\\u0073":"\\u0053")+r}function Su(n,e,t,r,i){
return{idPrefix:n===void 0?"":n,nextFormID:0,streamingFormat:0,bootstrapScriptContent:t,bootstrapScripts:r,bootstrapModules:i,
instructions:0,hasBody:!1,hasHtml:!1,unknownResources:{},dnsResources:{},connectResources:{default:{},anonymous:{},credentials:{}},
imageResources:{},styleResources:{},scriptResources:{},moduleUnknownResources:{},moduleScriptResources:{}}}function j(n,e,t,r){
return{insertionMode:n,selectedValue:e,tagScope:t,viewTransition:r}}function Hl(n,e,t){var r=n.tagScope&-25;switch(e){case"\
noscript":return j(2,null,r|1,null);case"select":return j(2,t.value!=null?t.value:t.defaultValue,r,null);case"svg":return j(
4,null,r,null);case"picture":return j(2,null,r|2,null);case"math":return j(5,null,r,null);case"foreignObject":return j(2,
null,r,null);case"table":return j(6,null,r,null);case"thead":case"tbody":case"tfoot":return j(7,null,r,null);case"colgro\
up":return j(9,null,r,null);case"tr":return j(8,null,r,null);case"head":if(2>n.insertionMode)return j(3,null,r,null);break;case"\
html":if(n.insertionMode===0)return j(1,null,r,null)}return 6<=n.insertionMode||2>n.insertionMode?j(2,null,r,null):n.viewTransition!==
null||n.tagScope!==r?j(n.insertionMode,n.selectedValue,r,null):n}function Ea(n){return n===null?null:{update:n.update,enter:"\
none",exit:"none",share:n.update,parentEnter:"none",parentExit:"none",name:n.autoName,autoName:n.autoName,nameIdx:0}}function vi(n,e){
return e.tagScope&32&&(n.instructions|=128),j(e.insertionMode,e.selectedValue,e.tagScope|12,Ea(e.viewTransition))}function ar(n,e){
n=Ea(e.viewTransition);var t=e.tagScope|16;return n!==null&&n.share!=="none"&&(t|=64),j(e.insertionMode,e.selectedValue,
t,n)}function ma(n,e,t){return n="_"+n.idPrefix+"R_"+e,0<t&&(n+="H"+t.toString(32)),n+"_"}function bn(n,e){e=e.viewTransition,
e!==null&&(e.name!=="auto"&&(B(n,"vt-name",e.nameIdx===0?e.name:e.name+"_"+e.nameIdx),e.nameIdx++),B(n,"vt-update",e.update),
e.enter!=="none"&&B(n,"vt-enter",e.enter),e.exit!=="none"&&B(n,"vt-exit",e.exit),e.share!=="none"&&B(n,"vt-share",e.share))}
var Dl=new Map;function Ra(n,e){if(typeof e!="object")throw Error(v(62));var t=!0,r;for(r in e)if(F.call(e,r)){var i=e[r];
if(i!=null&&typeof i!="boolean"&&i!==""){if(r.indexOf("--")===0){var l=w(r);i=w((""+i).trim())}else l=Dl.get(r),l===void 0&&
(l=w(r.replace(Pu,"-$1").toLowerCase().replace(Cu,"-ms-")),Dl.set(r,l)),i=typeof i=="number"?i===0||mu.has(r)?""+i:i+"px":
w((""+i).trim());t?(t=!1,n.push(' style="',l,":",i)):n.push(";",l,":",i)}}t||n.push('"')}function yi(n,e,t){t&&typeof t!=
"function"&&typeof t!="symbol"&&n.push(" ",e,'=""')}function B(n,e,t){typeof t!="function"&&typeof t!="symbol"&&typeof t!=
"boolean"&&n.push(" ",e,'="',w(t),'"')}var xa=w("javascript:throw new Error('React form unexpectedly submitted.')");function ci(n,e){
this.push('<input type="hidden"'),Pa(n),B(this,"name",e),B(this,"value",n),this.push("/>")}function Pa(n){if(typeof n!="\
string")throw Error(v(480))}function Ca(n,e){if(typeof e.$$FORM_ACTION=="function"){var t=n.nextFormID++;n=n.idPrefix+t;
try{var r=e.$$FORM_ACTION(n);if(r){var i=r.data;i?.forEach(Pa)}return r}catch(l){if(typeof l=="object"&&l!==null&&typeof l.
then=="function")throw l}}return null}function Bl(n,e,t,r,i,l,a,u){var o=null;if(typeof r=="function"){var c=Ca(e,r);c!==
null?(u=c.name,r=c.action||"",i=c.encType,l=c.method,a=c.target,o=c.data):(n.push(" ","formAction",'="',xa,'"'),a=l=i=r=
u=null,Aa(e,t))}return u!=null&&P(n,"name",u),r!=null&&P(n,"formAction",r),i!=null&&P(n,"formEncType",i),l!=null&&P(n,"f\
ormMethod",l),a!=null&&P(n,"formTarget",a),o}function P(n,e,t){switch(e){case"className":B(n,"class",t);break;case"tabIn\
dex":B(n,"tabindex",t);break;case"dir":case"role":case"viewBox":case"width":case"height":B(n,e,t);break;case"style":Ra(n,
t);break;case"src":case"href":if(t==="")break;case"action":case"formAction":if(t==null||typeof t=="function"||typeof t==
"symbol"||typeof t=="boolean")break;t=Et(""+t),n.push(" ",e,'="',w(t),'"');break;case"defaultValue":case"defaultChecked":case"\
innerHTML":case"suppressContentEditableWarning":case"suppressHydrationWarning":case"ref":break;case"autoFocus":case"mult\
iple":case"muted":yi(n,e.toLowerCase(),t);break;case"xlinkHref":if(typeof t=="function"||typeof t=="symbol"||typeof t=="\
boolean")break;t=Et(""+t),n.push(" ","xlink:href",'="',w(t),'"');break;case"contentEditable":case"spellCheck":case"dragg\
able":case"value":case"autoReverse":case"externalResourcesRequired":case"focusable":case"preserveAlpha":typeof t!="funct\
ion"&&typeof t!="symbol"&&n.push(" ",e,'="',w(t),'"');break;case"inert":case"allowFullScreen":case"async":case"autoPlay":case"\
controls":case"credentialless":case"default":case"defer":case"disabled":case"disablePictureInPicture":case"disableRemote\
Playback":case"formNoValidate":case"hidden":case"loop":case"noModule":case"noValidate":case"open":case"playsInline":case"\
readOnly":case"required":case"reversed":case"scoped":case"seamless":case"itemScope":t&&typeof t!="function"&&typeof t!="\
symbol"&&n.push(" ",e,'=""');break;case"capture":case"download":t===!0?n.push(" ",e,'=""'):t!==!1&&typeof t!="function"&&
typeof t!="symbol"&&n.push(" ",e,'="',w(t),'"');break;case"cols":case"rows":case"size":case"span":typeof t!="function"&&
typeof t!="symbol"&&!isNaN(t)&&1<=t&&n.push(" ",e,'="',w(t),'"');break;case"rowSpan":case"start":typeof t=="function"||typeof t==
"symbol"||isNaN(t)||n.push(" ",e,'="',w(t),'"');break;case"xlinkActuate":B(n,"xlink:actuate",t);break;case"xlinkArcrole":
B(n,"xlink:arcrole",t);break;case"xlinkRole":B(n,"xlink:role",t);break;case"xlinkShow":B(n,"xlink:show",t);break;case"xl\
inkTitle":B(n,"xlink:title",t);break;case"xlinkType":B(n,"xlink:type",t);break;case"xmlBase":B(n,"xml:base",t);break;case"\
xmlLang":B(n,"xml:lang",t);break;case"xmlSpace":B(n,"xml:space",t);break;default:if((!(2<e.length)||e[0]!=="o"&&e[0]!=="\
O"||e[1]!=="n"&&e[1]!=="N")&&(e=Ru.get(e)||e,Si(e))){switch(typeof t){case"function":case"symbol":return;case"boolean":var r=e.
toLowerCase().slice(0,5);if(r!=="data-"&&r!=="aria-")return}n.push(" ",e,'="',w(t),'"')}}}function pn(n,e,t){if(e!=null){
if(t!=null)throw Error(v(60));if(typeof e!="object"||!("__html"in e))throw Error(v(61));e=e.__html,e!=null&&n.push(""+e)}}
function ku(n){var e="";return ca.Children.forEach(n,function(t){t!=null&&(e+=t)}),e}function Aa(n,e){if((n.instructions&
16)===0){n.instructions|=16;var t=e.preamble,r=e.bootstrapChunks;(t.htmlChunks||t.headChunks)&&r.length===0?(r.push(e.startInlineScript),
or(r,n),r.push(">",`addEventListener("submit",function(a){if(!a.defaultPrevented){var b=a.target,d=a.submitter,c=b.actio\
n,e=d;if(d){var f=d.getAttribute("formAction");null!=f&&(c=f,e=null)}"javascript:throw new Error('React form unexpectedl\
y submitted.')"===c&&(a.preventDefault(),a=new FormData(b,e),c=b.ownerDocument||b,(c.$$reactFormReplay=c.$$reactFormRepl\
ay||[]).push(b,d,a))}});`,"</script>")):r.unshift(e.startInlineScript,">",`addEventListener("submit",function(a){if(!a.d\
efaultPrevented){var b=a.target,d=a.submitter,c=b.action,e=d;if(d){var f=d.getAttribute("formAction");null!=f&&(c=f,e=nu\
ll)}"javascript:throw new Error('React form unexpectedly submitted.')"===c&&(a.preventDefault(),a=new FormData(b,e),c=b.\
ownerDocument||b,(c.$$reactFormReplay=c.$$reactFormReplay||[]).push(b,d,a))}});`,"</script>")}}function rn(n,e){n.push(W(
"link"));for(var t in e)if(F.call(e,t)){var r=e[t];if(r!=null)switch(t){case"children":case"dangerouslySetInnerHTML":throw Error(
v(399,"link"));default:P(n,t,r)}}return n.push("/>"),null}var zl=/(<\/|<)(s)(tyle)/gi;function Yl(n,e,t,r){return""+e+(t===
"s"?"\\73 ":"\\53 ")+r}function Je(n,e,t,r){n.push(W(t));for(var i in e)if(F.call(e,i)){var l=e[i];if(l!=null)switch(i){case"\
children":case"dangerouslySetInnerHTML":throw Error(v(399,t));default:P(n,i,l)}}return bn(n,r),n.push("/>"),null}function Ul(n,e){
n.push(W("title"));var t=null,r=null,i;for(i in e)if(F.call(e,i)){var l=e[i];if(l!=null)switch(i){case"children":t=l;break;case"\
dangerouslySetInnerHTML":r=l;break;default:P(n,i,l)}}return n.push(">"),e=Array.isArray(t)?2>t.length?t[0]:null:t,typeof e!=
"function"&&typeof e!="symbol"&&e!==null&&e!==void 0&&n.push(w(""+e)),pn(n,r,t),n.push(xe("title")),null}function gr(n,e){
n.push(W("script"));var t=null,r=null,i;for(i in e)if(F.call(e,i)){var l=e[i];if(l!=null)switch(i){case"children":t=l;break;case"\
dangerouslySetInnerHTML":r=l;break;default:P(n,i,l)}}return n.push(">"),pn(n,r,t),typeof t=="string"&&n.push((""+t).replace(
Ta,wa)),n.push(xe("script")),null}function fi(n,e,t,r){n.push(W(t));var i=t=null,l;for(l in e)if(F.call(e,l)){var a=e[l];
if(a!=null)switch(l){case"children":t=a;break;case"dangerouslySetInnerHTML":i=a;break;default:P(n,l,a)}}return bn(n,r),n.
push(">"),pn(n,i,t),t}function rr(n,e,t,r){n.push(W(t));var i=t=null,l;for(l in e)if(F.call(e,l)){var a=e[l];if(a!=null)
switch(l){case"children":t=a;break;case"dangerouslySetInnerHTML":i=a;break;default:P(n,l,a)}}return bn(n,r),n.push(">"),
pn(n,i,t),typeof t=="string"?(n.push(w(t)),null):t}var Nu=/^[a-zA-Z][a-zA-Z:_\.\-\d]*$/,Wl=new Map;function W(n){var e=Wl.
get(n);if(e===void 0){if(!Nu.test(n))throw Error(v(65,n));e="<"+n,Wl.set(n,e)}return e}function Mu(n,e,t,r,i,l,a,u,o){switch(e){case"\
div":case"span":case"svg":case"path":break;case"a":n.push(W("a"));var c=null,f=null,s;for(s in t)if(F.call(t,s)){var d=t[s];
if(d!=null)switch(s){case"children":c=d;break;case"dangerouslySetInnerHTML":f=d;break;case"href":d===""?B(n,"href",""):P(
n,s,d);break;default:P(n,s,d)}}if(bn(n,u),n.push(">"),pn(n,f,c),typeof c=="string"){n.push(w(c));var h=null}else h=c;return h;case"\
g":case"p":case"li":break;case"select":n.push(W("select"));var g=null,b=null,A;for(A in t)if(F.call(t,A)){var R=t[A];if(R!=
null)switch(A){case"children":g=R;break;case"dangerouslySetInnerHTML":b=R;break;case"defaultValue":case"value":break;default:
P(n,A,R)}}return bn(n,u),n.push(">"),pn(n,b,g),g;case"option":var _=u.selectedValue;n.push(W("option"));var z=null,L=null,
T=null,x=null,M;for(M in t)if(F.call(t,M)){var vn=t[M];if(vn!=null)switch(M){case"children":z=vn;break;case"selected":T=
vn;break;case"dangerouslySetInnerHTML":x=vn;break;case"value":L=vn;default:P(n,M,vn)}}if(_!=null){var m=L!==null?""+L:ku(
z);if(dr(_)){for(var H=0;H<_.length;H++)if(""+_[H]===m){n.push(' selected=""');break}}else""+_===m&&n.push(' selected=""')}else
T&&n.push(' selected=""');return n.push(">"),pn(n,x,z),z;case"textarea":n.push(W("textarea"));var D=null,Z=null,O=null,sn;
for(sn in t)if(F.call(t,sn)){var Y=t[sn];if(Y!=null)switch(sn){case"children":O=Y;break;case"value":D=Y;break;case"defau\
ltValue":Z=Y;break;case"dangerouslySetInnerHTML":throw Error(v(91));default:P(n,sn,Y)}}if(D===null&&Z!==null&&(D=Z),bn(n,
u),n.push(">"),O!=null){if(D!=null)throw Error(v(92));if(dr(O)){if(1<O.length)throw Error(v(93));D=""+O[0]}D=""+O}return typeof D==
"string"&&D[0]===`
`&&n.push(`
`),D!==null&&n.push(w(""+D)),null;case"input":n.push(W("input"));var Gn=null,yn=null,U=null,ue=null,J=null,kn=null,K=null,
wn=null,Rn=null,Nn;for(Nn in t)if(F.call(t,Nn)){var I=t[Nn];if(I!=null)switch(Nn){case"children":case"dangerouslySetInne\
rHTML":throw Error(v(399,"input"));case"name":Gn=I;break;case"formAction":yn=I;break;case"formEncType":U=I;break;case"fo\
rmMethod":ue=I;break;case"formTarget":J=I;break;case"defaultChecked":Rn=I;break;case"defaultValue":K=I;break;case"checke\
d":wn=I;break;case"value":kn=I;break;default:P(n,Nn,I)}}var Ln=Bl(n,r,i,yn,U,ue,J,Gn);return wn!==null?yi(n,"checked",wn):
Rn!==null&&yi(n,"checked",Rn),kn!==null?P(n,"value",kn):K!==null&&P(n,"value",K),bn(n,u),n.push("/>"),Ln?.forEach(ci,n),
null;case"button":n.push(W("button"));var ce=null,Mn=null,Xn=null,rt=null,Oe=null,Fe=null,Ut=null,On;for(On in t)if(F.call(
t,On)){var nn=t[On];if(nn!=null)switch(On){case"children":ce=nn;break;case"dangerouslySetInnerHTML":Mn=nn;break;case"nam\
e":Xn=nn;break;case"formAction":rt=nn;break;case"formEncType":Oe=nn;break;case"formMethod":Fe=nn;break;case"formTarget":
Ut=nn;break;default:P(n,On,nn)}}var Wt=Bl(n,r,i,rt,Oe,Fe,Ut,Xn);if(bn(n,u),n.push(">"),Wt?.forEach(ci,n),pn(n,Mn,ce),typeof ce==
"string"){n.push(w(ce));var it=null}else it=ce;return it;case"form":n.push(W("form"));var fe=null,Gt=null,Hn=null,Zn=null,
se=null,Vn=null,he;for(he in t)if(F.call(t,he)){var Fn=t[he];if(Fn!=null)switch(he){case"children":fe=Fn;break;case"dang\
erouslySetInnerHTML":Gt=Fn;break;case"action":Hn=Fn;break;case"encType":Zn=Fn;break;case"method":se=Fn;break;case"target":
Vn=Fn;break;default:P(n,he,Fn)}}var Ie=null,Qn=null;if(typeof Hn=="function"){var un=Ca(r,Hn);un!==null?(Hn=un.action||"",
Zn=un.encType,se=un.method,Vn=un.target,Ie=un.data,Qn=un.name):(n.push(" ","action",'="',xa,'"'),Vn=se=Zn=Hn=null,Aa(r,i))}
if(Hn!=null&&P(n,"action",Hn),Zn!=null&&P(n,"encType",Zn),se!=null&&P(n,"method",se),Vn!=null&&P(n,"target",Vn),bn(n,u),
n.push(">"),Qn!==null&&(n.push('<input type="hidden"'),B(n,"name",Qn),n.push("/>"),Ie?.forEach(ci,n)),pn(n,Gt,fe),typeof fe==
"string"){n.push(w(fe));var lt=null}else lt=fe;return lt;case"menuitem":n.push(W("menuitem"));for(var de in t)if(F.call(
t,de)){var Xt=t[de];if(Xt!=null)switch(de){case"children":case"dangerouslySetInnerHTML":throw Error(v(400));default:P(n,
de,Xt)}}return bn(n,u),n.push(">"),null;case"object":n.push(W("object"));var xn=null,at=null,Jn;for(Jn in t)if(F.call(t,
Jn)){var Kn=t[Jn];if(Kn!=null)switch(Jn){case"children":xn=Kn;break;case"dangerouslySetInnerHTML":at=Kn;break;case"data":
var S=Et(""+Kn);if(S==="")break;n.push(" ","data",'="',w(S),'"');break;default:P(n,Jn,Kn)}}if(bn(n,u),n.push(">"),pn(n,at,
xn),typeof xn=="string"){n.push(w(xn));var Pn=null}else Pn=xn;return Pn;case"title":var En=u.tagScope&1,ot=u.tagScope&4;
if(u.insertionMode===4||En||t.itemProp!=null)var Le=Ul(n,t);else ot?Le=null:(Ul(i.hoistableChunks,t),Le=void 0);return Le;case"\
link":var He=u.tagScope&1,Zt=u.tagScope&4,Vt=t.rel,Cn=t.href,De=t.precedence;if(u.insertionMode===4||He||t.itemProp!=null||
typeof Vt!="string"||typeof Cn!="string"||Cn===""){rn(n,t);var ge=null}else if(t.rel==="stylesheet")if(typeof De!="strin\
g"||t.disabled!=null||t.onLoad||t.onError)ge=rn(n,t);else{var Dn=i.styles.get(De),qn=r.styleResources.hasOwnProperty(Cn)?
r.styleResources[Cn]:void 0;if(qn!==null){r.styleResources[Cn]=null,Dn||(Dn={precedence:w(De),rules:[],hrefs:[],sheets:new Map},
i.styles.set(De,Dn));var jn={state:0,props:gn({},t,{"data-precedence":t.precedence,precedence:null})};if(qn){qn.length===
2&&mt(jn.props,qn);var ut=i.preloads.stylesheets.get(Cn);ut&&0<ut.length?ut.length=0:jn.state=1}Dn.sheets.set(Cn,jn),a&&
a.stylesheets.add(jn)}else if(Dn){var Qt=Dn.sheets.get(Cn);Qt&&a&&a.stylesheets.add(Qt)}o&&n.push("<!-- -->"),ge=null}else
t.onLoad||t.onError?ge=rn(n,t):(o&&n.push("<!-- -->"),ge=Zt?null:rn(i.hoistableChunks,t));return ge;case"script":var Zr=u.
tagScope&1,Be=t.async;if(typeof t.src!="string"||!t.src||!Be||typeof Be=="function"||typeof Be=="symbol"||t.onLoad||t.onError||
u.insertionMode===4||Zr||t.itemProp!=null)var Jt=gr(n,t);else{var $n=t.src;if(t.type==="module")var ve=r.moduleScriptResources,
ye=i.preloads.moduleScripts;else ve=r.scriptResources,ye=i.preloads.scripts;var ze=ve.hasOwnProperty($n)?ve[$n]:void 0;if(ze!==
null){ve[$n]=null;var ct=t;if(ze){ze.length===2&&(ct=gn({},t),mt(ct,ze));var Kt=ye.get($n);Kt&&(Kt.length=0)}var qt=[];i.
scripts.add(qt),gr(qt,ct)}o&&n.push("<!-- -->"),Jt=null}return Jt;case"style":var Vr=u.tagScope&1,Ye=t.precedence,In=t.href,
Bo=t.nonce;if(u.insertionMode===4||Vr||t.itemProp!=null||typeof Ye!="string"||typeof In!="string"||In===""){n.push(W("st\
yle"));var Ue=null,$i=null,ft;for(ft in t)if(F.call(t,ft)){var jt=t[ft];if(jt!=null)switch(ft){case"children":Ue=jt;break;case"\
dangerouslySetInnerHTML":$i=jt;break;default:P(n,ft,jt)}}n.push(">");var st=Array.isArray(Ue)?2>Ue.length?Ue[0]:null:Ue;
typeof st!="function"&&typeof st!="symbol"&&st!==null&&st!==void 0&&n.push((""+st).replace(zl,Yl)),pn(n,$i,Ue),n.push(xe(
"style"));var nl=null}else{var be=i.styles.get(Ye);if((r.styleResources.hasOwnProperty(In)?r.styleResources[In]:void 0)!==
null){r.styleResources[In]=null,be||(be={precedence:w(Ye),rules:[],hrefs:[],sheets:new Map},i.styles.set(Ye,be));var el=i.
nonce.style;if(!el||el===Bo){be.hrefs.push(w(In));var tl=be.rules,We=null,rl=null,$t;for($t in t)if(F.call(t,$t)){var Qr=t[$t];
if(Qr!=null)switch($t){case"children":We=Qr;break;case"dangerouslySetInnerHTML":rl=Qr}}var ht=Array.isArray(We)?2>We.length?
We[0]:null:We;typeof ht!="function"&&typeof ht!="symbol"&&ht!==null&&ht!==void 0&&tl.push((""+ht).replace(zl,Yl)),pn(tl,
rl,We)}}be&&a&&a.styles.add(be),o&&n.push("<!-- -->"),nl=void 0}return nl;case"meta":var zo=u.tagScope&1,Yo=u.tagScope&4;
if(u.insertionMode===4||zo||t.itemProp!=null)var il=Je(n,t,"meta",u);else o&&n.push("<!-- -->"),il=Yo?null:typeof t.charSet==
"string"?Je(i.charsetChunks,t,"meta",u):t.name==="viewport"?Je(i.viewportChunks,t,"meta",u):Je(i.hoistableChunks,t,"meta",
u);return il;case"listing":case"pre":n.push(W(e));var dt=null,gt=null,vt;for(vt in t)if(F.call(t,vt)){var nr=t[vt];if(nr!=
null)switch(vt){case"children":dt=nr;break;case"dangerouslySetInnerHTML":gt=nr;break;default:P(n,vt,nr)}}if(bn(n,u),n.push(
">"),gt!=null){if(dt!=null)throw Error(v(60));if(typeof gt!="object"||!("__html"in gt))throw Error(v(61));var pe=gt.__html;
pe!=null&&(typeof pe=="string"&&0<pe.length&&pe[0]===`
`?n.push(`
`,pe):n.push(""+pe))}return typeof dt=="string"&&dt[0]===`
`&&n.push(`
`),dt;case"img":var Uo=u.tagScope&3,en=t.src,q=t.srcSet;if(!(t.loading==="lazy"||!en&&!q||typeof en!="string"&&en!=null||
typeof q!="string"&&q!=null||t.fetchPriority==="low"||Uo)&&(typeof en!="string"||en[4]!==":"||en[0]!=="d"&&en[0]!=="D"||
en[1]!=="a"&&en[1]!=="A"||en[2]!=="t"&&en[2]!=="T"||en[3]!=="a"&&en[3]!=="A")&&(typeof q!="string"||q[4]!==":"||q[0]!=="\
d"&&q[0]!=="D"||q[1]!=="a"&&q[1]!=="A"||q[2]!=="t"&&q[2]!=="T"||q[3]!=="a"&&q[3]!=="A")){a!==null&&u.tagScope&64&&(a.suspenseyImages=
!0);var ll=typeof t.sizes=="string"?t.sizes:void 0,Ge=q?q+`
`+(ll||""):en,Jr=i.preloads.images,Te=Jr.get(Ge);if(Te)(t.fetchPriority==="high"||10>i.highImagePreloads.size)&&(Jr.delete(
Ge),i.highImagePreloads.add(Te));else if(!r.imageResources.hasOwnProperty(Ge)){r.imageResources[Ge]=mn;var Kr=t.crossOrigin,
al=typeof Kr=="string"?Kr==="use-credentials"?Kr:"":void 0,we=i.headers,qr;we&&0<we.remainingCapacity&&typeof t.srcSet!=
"string"&&(t.fetchPriority==="high"||500>we.highImagePreloads.length)&&(qr=yr(en,"image",{imageSrcSet:t.srcSet,imageSizes:t.
sizes,crossOrigin:al,integrity:t.integrity,nonce:t.nonce,type:t.type,fetchPriority:t.fetchPriority,referrerPolicy:t.referrerPolicy}),
0<=(we.remainingCapacity-=qr.length+2))?(i.resets.image[Ge]=mn,we.highImagePreloads&&(we.highImagePreloads+=", "),we.highImagePreloads+=
qr):(Te=[],rn(Te,{rel:"preload",as:"image",href:q?void 0:en,imageSrcSet:q,imageSizes:ll,crossOrigin:al,integrity:t.integrity,
type:t.type,fetchPriority:t.fetchPriority,referrerPolicy:t.referrerPolicy}),t.fetchPriority==="high"||10>i.highImagePreloads.
size?i.highImagePreloads.add(Te):(i.bulkPreloads.add(Te),Jr.set(Ge,Te)))}}return Je(n,t,"img",u);case"base":case"area":case"\
br":case"col":case"embed":case"hr":case"keygen":case"param":case"source":case"track":case"wbr":return Je(n,t,e,u);case"a\
nnotation-xml":case"color-profile":case"font-face":case"font-face-src":case"font-face-uri":case"font-face-format":case"f\
ont-face-name":case"missing-glyph":break;case"head":if(2>u.insertionMode){var jr=l||i.preamble;if(jr.headChunks)throw Error(
v(545,"`<head>`"));l!==null&&n.push("<!--head-->"),jr.headChunks=[];var ol=fi(jr.headChunks,t,"head",u)}else ol=rr(n,t,"\
head",u);return ol;case"body":if(2>u.insertionMode){var $r=l||i.preamble;if($r.bodyChunks)throw Error(v(545,"`<body>`"));
l!==null&&n.push("<!--body-->"),$r.bodyChunks=[];var ul=fi($r.bodyChunks,t,"body",u)}else ul=rr(n,t,"body",u);return ul;case"\
html":if(u.insertionMode===0){var ni=l||i.preamble;if(ni.htmlChunks)throw Error(v(545,"`<html>`"));l!==null&&n.push("<!-\
-html-->"),ni.htmlChunks=[""];var cl=fi(ni.htmlChunks,t,"html",u)}else cl=rr(n,t,"html",u);return cl;default:if(e.indexOf(
"-")!==-1){n.push(W(e));var ei=null,fl=null,Xe;for(Xe in t)if(F.call(t,Xe)){var An=t[Xe];if(An!=null){var sl=Xe;switch(Xe){case"\
children":ei=An;break;case"dangerouslySetInnerHTML":fl=An;break;case"style":Ra(n,An);break;case"suppressContentEditableW\
arning":case"suppressHydrationWarning":case"ref":break;case"className":sl="class";default:if(Si(Xe)&&typeof An!="functio\
n"&&typeof An!="symbol"&&An!==!1){if(An===!0)An="";else if(typeof An=="object")continue;n.push(" ",sl,'="',w(An),'"')}}}}
return bn(n,u),n.push(">"),pn(n,fl,ei),ei}}return rr(n,t,e,u)}var Gl=new Map;function xe(n){var e=Gl.get(n);return e===void 0&&
(e="</"+n+">",Gl.set(n,e)),e}function Xl(n,e){n=n.preamble,n.htmlChunks===null&&e.htmlChunks&&(n.htmlChunks=e.htmlChunks),
n.headChunks===null&&e.headChunks&&(n.headChunks=e.headChunks),n.bodyChunks===null&&e.bodyChunks&&(n.bodyChunks=e.bodyChunks)}
function _a(n,e){e=e.bootstrapChunks;for(var t=0;t<e.length-1;t++)n.push(e[t]);return t<e.length?(t=e[t],e.length=0,n.push(
t)):!0}function Zl(n,e,t){if(n.push('<!--$?--><template id="'),t===null)throw Error(v(395));return n.push(e.boundaryPrefix),
e=t.toString(16),n.push(e),n.push('"></template>')}function Ou(n,e,t,r){switch(t.insertionMode){case 0:case 1:case 3:case 2:
return n.push('<div hidden id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 4:return n.push('\
<svg aria-hidden="true" style="display:none" id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 5:
return n.push('<math aria-hidden="true" style="display:none" id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.
push('">');case 6:return n.push('<table hidden id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 7:
return n.push('<table hidden><tbody id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 8:return n.
push('<table hidden><tr id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 9:return n.push('<ta\
ble hidden><colgroup id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');default:throw Error(v(397))}}
function Fu(n,e){switch(e.insertionMode){case 0:case 1:case 3:case 2:return n.push("</div>");case 4:return n.push("</svg\
>");case 5:return n.push("</math>");case 6:return n.push("</table>");case 7:return n.push("</tbody></table>");case 8:return n.
push("</tr></table>");case 9:return n.push("</colgroup></table>");default:throw Error(v(397))}}var Iu=/[<\u2028\u2029]/g;
function Lu(n){return JSON.stringify(n).replace(Iu,function(e){switch(e){case"<":return"\\u003c";case"\u2028":return"\\u2\
028";case"\u2029":return"\\u2029";default:throw Error("escapeJSStringsForInstructionScripts encountered a match it does \
not know how to replace. this means the match regex and the replacement characters are no longer in sync. This is a bug \
in React")}})}var Hu=/[&><\u2028\u2029]/g;function Tt(n){return JSON.stringify(n).replace(Hu,function(e){switch(e){case"\
&":return"\\u0026";case">":return"\\u003e";case"<":return"\\u003c";case"\u2028":return"\\u2028";case"\u2029":return"\\u20\
29";default:throw Error("escapeJSObjectForInstructionScripts encountered a match it does not know how to replace. this m\
eans the match regex and the replacement characters are no longer in sync. This is a bug in React")}})}var vr=!1,bi=!0;function Du(n){
var e=n.rules,t=n.hrefs,r=0;if(t.length){for(this.push(qe.startInlineStyle),this.push(' media="not all" data-precedence=\
"'),this.push(n.precedence),this.push('" data-href="');r<t.length-1;r++)this.push(t[r]),this.push(" ");for(this.push(t[r]),
this.push('">'),r=0;r<e.length;r++)this.push(e[r]);bi=this.push("</style>"),vr=!0,e.length=0,t.length=0}}function Bu(n){
return n.state!==2?vr=!0:!1}function Sa(n,e,t){return vr=!1,bi=!0,qe=t,e.styles.forEach(Du,n),qe=null,e.stylesheets.forEach(
Bu),vr&&(t.stylesToHoist=!0),bi}function _n(n){for(var e=0;e<n.length;e++)this.push(n[e]);n.length=0}var te=[];function zu(n){
rn(te,n.props);for(var e=0;e<te.length;e++)this.push(te[e]);te.length=0,n.state=2}function Yu(n){var e=0<n.sheets.size;n.
sheets.forEach(zu,this),n.sheets.clear();var t=n.rules,r=n.hrefs;if(!e||r.length){if(this.push(qe.startInlineStyle),this.
push(' data-precedence="'),this.push(n.precedence),n=0,r.length){for(this.push('" data-href="');n<r.length-1;n++)this.push(
r[n]),this.push(" ");this.push(r[n])}for(this.push('">'),n=0;n<t.length;n++)this.push(t[n]);this.push("</style>"),t.length=
0,r.length=0}}function Uu(n){if(n.state===0){n.state=1;var e=n.props;for(rn(te,{rel:"preload",as:"style",href:n.props.href,
crossOrigin:e.crossOrigin,fetchPriority:e.fetchPriority,integrity:e.integrity,media:e.media,hrefLang:e.hrefLang,referrerPolicy:e.
referrerPolicy}),n=0;n<te.length;n++)this.push(te[n]);te.length=0}}function Wu(n){n.sheets.forEach(Uu,this),n.sheets.clear()}
function or(n,e){(e.instructions&32)===0&&(e.instructions|=32,n.push(' id="',w("_"+e.idPrefix+"R_"),'"'))}function Gu(n,e){
n.push("[");var t="[";e.stylesheets.forEach(function(r){if(r.state!==2)if(r.state===3)n.push(t),r=Tt(""+r.props.href),n.
push(r),n.push("]"),t=",[";else{n.push(t);var i=r.props["data-precedence"],l=r.props,a=Et(""+r.props.href);a=Tt(a),n.push(
a),i=""+i,n.push(","),i=Tt(i),n.push(i);for(var u in l)if(F.call(l,u)&&(i=l[u],i!=null))switch(u){case"href":case"rel":case"\
precedence":case"data-precedence":break;case"children":case"dangerouslySetInnerHTML":throw Error(v(399,"link"));default:
Xu(n,u,i)}n.push("]"),t=",[",r.state=3}}),n.push("]")}function Xu(n,e,t){var r=e.toLowerCase();switch(typeof t){case"fun\
ction":case"symbol":return}switch(e){case"innerHTML":case"dangerouslySetInnerHTML":case"suppressContentEditableWarning":case"\
suppressHydrationWarning":case"style":case"ref":return;case"className":r="class",e=""+t;break;case"hidden":if(t===!1)return;
e="";break;case"src":case"href":t=Et(t),e=""+t;break;default:if(2<e.length&&(e[0]==="o"||e[0]==="O")&&(e[1]==="n"||e[1]===
"N")||!Si(e))return;e=""+t}n.push(","),r=Tt(r),n.push(r),n.push(","),r=Tt(e),n.push(r)}function pi(){return{styles:new Set,
stylesheets:new Set,suspenseyImages:!1}}function Zu(n){var e=$||null;if(e){var t=e.resumableState,r=e.renderState;if(typeof n==
"string"&&n){if(!t.dnsResources.hasOwnProperty(n)){t.dnsResources[n]=null,t=r.headers;var i,l;(l=t&&0<t.remainingCapacity)&&
(l=(i="<"+(""+n).replace(ki,Ni)+">; rel=dns-prefetch",0<=(t.remainingCapacity-=i.length+2))),l?(r.resets.dns[n]=null,t.preconnects&&
(t.preconnects+=", "),t.preconnects+=i):(i=[],rn(i,{href:n,rel:"dns-prefetch"}),r.preconnects.add(i))}ke(e)}}else zn.D(n)}
function Vu(n,e){var t=$||null;if(t){var r=t.resumableState,i=t.renderState;if(typeof n=="string"&&n){var l=e==="use-cre\
dentials"?"credentials":typeof e=="string"?"anonymous":"default";if(!r.connectResources[l].hasOwnProperty(n)){r.connectResources[l][n]=
null,r=i.headers;var a,u;if(u=r&&0<r.remainingCapacity){if(u="<"+(""+n).replace(ki,Ni)+">; rel=preconnect",typeof e=="st\
ring"){var o=(""+e).replace(Ti,wi);u+='; crossorigin="'+o+'"'}u=(a=u,0<=(r.remainingCapacity-=a.length+2))}u?(i.resets.connect[l][n]=
null,r.preconnects&&(r.preconnects+=", "),r.preconnects+=a):(l=[],rn(l,{rel:"preconnect",href:n,crossOrigin:e}),i.preconnects.
add(l))}ke(t)}}else zn.C(n,e)}function Qu(n,e,t){var r=$||null;if(r){var i=r.resumableState,l=r.renderState;if(e&&n){switch(e){case"\
image":if(t)var a=t.imageSrcSet,u=t.imageSizes,o=t.fetchPriority;var c=a?a+`
`+(u||""):n;if(i.imageResources.hasOwnProperty(c))return;i.imageResources[c]=mn,i=l.headers;var f;i&&0<i.remainingCapacity&&
typeof a!="string"&&o==="high"&&(f=yr(n,e,t),0<=(i.remainingCapacity-=f.length+2))?(l.resets.image[c]=mn,i.highImagePreloads&&
(i.highImagePreloads+=", "),i.highImagePreloads+=f):(i=[],rn(i,gn({rel:"preload",href:a?void 0:n,as:e},t)),o==="high"?l.
highImagePreloads.add(i):(l.bulkPreloads.add(i),l.preloads.images.set(c,i)));break;case"style":if(i.styleResources.hasOwnProperty(
n))return;a=[],rn(a,gn({rel:"preload",href:n,as:e},t)),i.styleResources[n]=!t||typeof t.crossOrigin!="string"&&typeof t.
integrity!="string"?mn:[t.crossOrigin,t.integrity],l.preloads.stylesheets.set(n,a),l.bulkPreloads.add(a);break;case"scri\
pt":if(i.scriptResources.hasOwnProperty(n))return;a=[],l.preloads.scripts.set(n,a),l.bulkPreloads.add(a),rn(a,gn({rel:"p\
reload",href:n,as:e},t)),i.scriptResources[n]=!t||typeof t.crossOrigin!="string"&&typeof t.integrity!="string"?mn:[t.crossOrigin,
t.integrity];break;default:if(i.unknownResources.hasOwnProperty(e)){if(a=i.unknownResources[e],a.hasOwnProperty(n))return}else
a={},i.unknownResources[e]=a;a[n]=mn,(i=l.headers)&&0<i.remainingCapacity&&e==="font"&&(c=yr(n,e,t),0<=(i.remainingCapacity-=
c.length+2))?(l.resets.font[n]=mn,i.fontPreloads&&(i.fontPreloads+=", "),i.fontPreloads+=c):(i=[],n=gn({rel:"preload",href:n,
as:e},t),rn(i,n),e)==="font"?l.fontPreloads.add(i):l.bulkPreloads.add(i)}ke(r)}}else zn.L(n,e,t)}function Ju(n,e){var t=$||
null;if(t){var r=t.resumableState,i=t.renderState;if(n){var l=e&&typeof e.as=="string"?e.as:"script";switch(l){case"scri\
pt":if(r.moduleScriptResources.hasOwnProperty(n))return;l=[],r.moduleScriptResources[n]=!e||typeof e.crossOrigin!="strin\
g"&&typeof e.integrity!="string"?mn:[e.crossOrigin,e.integrity],i.preloads.moduleScripts.set(n,l);break;default:if(r.moduleUnknownResources.
hasOwnProperty(l)){var a=r.moduleUnknownResources[l];if(a.hasOwnProperty(n))return}else a={},r.moduleUnknownResources[l]=
a;l=[],a[n]=mn}rn(l,gn({rel:"modulepreload",href:n},e)),i.bulkPreloads.add(l),ke(t)}}else zn.m(n,e)}function Ku(n,e,t){var r=$||
null;if(r){var i=r.resumableState,l=r.renderState;if(n){e=e||"default";var a=l.styles.get(e),u=i.styleResources.hasOwnProperty(
n)?i.styleResources[n]:void 0;u!==null&&(i.styleResources[n]=null,a||(a={precedence:w(e),rules:[],hrefs:[],sheets:new Map},
l.styles.set(e,a)),e={state:0,props:gn({rel:"stylesheet",href:n,"data-precedence":e},t)},u&&(u.length===2&&mt(e.props,u),
(l=l.preloads.stylesheets.get(n))&&0<l.length?l.length=0:e.state=1),a.sheets.set(n,e),ke(r))}}else zn.S(n,e,t)}function qu(n,e){
var t=$||null;if(t){var r=t.resumableState,i=t.renderState;if(n){var l=r.scriptResources.hasOwnProperty(n)?r.scriptResources[n]:
void 0;l!==null&&(r.scriptResources[n]=null,e=gn({src:n,async:!0},e),l&&(l.length===2&&mt(e,l),n=i.preloads.scripts.get(
n))&&(n.length=0),n=[],i.scripts.add(n),gr(n,e),ke(t))}}else zn.X(n,e)}function ju(n,e){var t=$||null;if(t){var r=t.resumableState,
i=t.renderState;if(n){var l=r.moduleScriptResources.hasOwnProperty(n)?r.moduleScriptResources[n]:void 0;l!==null&&(r.moduleScriptResources[n]=
null,e=gn({src:n,type:"module",async:!0},e),l&&(l.length===2&&mt(e,l),n=i.preloads.moduleScripts.get(n))&&(n.length=0),n=
[],i.scripts.add(n),gr(n,e),ke(t))}}else zn.M(n,e)}function mt(n,e){n.crossOrigin==null&&(n.crossOrigin=e[0]),n.integrity==
null&&(n.integrity=e[1])}function yr(n,e,t){n=(""+n).replace(ki,Ni),e=(""+e).replace(Ti,wi),e="<"+n+'>; rel=preload; as=\
"'+e+'"';for(var r in t)F.call(t,r)&&(n=t[r],typeof n=="string"&&(e+="; "+r.toLowerCase()+'="'+(""+n).replace(Ti,wi)+'"'));
return e}var ki=/[<>\r\n]/g;function Ni(n){switch(n){case"<":return"%3C";case">":return"%3E";case`
`:return"%0A";case"\r":return"%0D";default:throw Error("escapeLinkHrefForHeaderContextReplacer encountered a match it do\
es not know how to replace. this means the match regex and the replacement characters are no longer in sync. This is a b\
ug in React")}}var Ti=/["';,\r\n]/g;function wi(n){switch(n){case'"':return"%22";case"'":return"%27";case";":return"%3B";case"\
,":return"%2C";case`
`:return"%0A";case"\r":return"%0D";default:throw Error("escapeStringForLinkHeaderQuotedParamValueContextReplacer encount\
ered a match it does not know how to replace. this means the match regex and the replacement characters are no longer in\
 sync. This is a bug in React")}}function $u(n){this.styles.add(n)}function nc(n){this.stylesheets.add(n)}function je(n,e){
e.styles.forEach($u,n),e.stylesheets.forEach(nc,n),e.suspenseyImages&&(n.suspenseyImages=!0)}function ec(n,e){var t=n.idPrefix,
r=[],i=n.bootstrapScriptContent,l=n.bootstrapScripts,a=n.bootstrapModules;i!==void 0&&(r.push("<script"),or(r,n),r.push(
">",(""+i).replace(Ta,wa),"</script>")),i=t+"P:";var u=t+"S:";t+="B:";var o=new Set,c=new Set,f=new Set,s=new Map,d=new Set,
h=new Set,g=new Set,b={images:new Map,stylesheets:new Map,scripts:new Map,moduleScripts:new Map};if(l!==void 0)for(var A=0;A<
l.length;A++){var R=l[A],_,z=void 0,L=void 0,T={rel:"preload",as:"script",fetchPriority:"low",nonce:void 0};typeof R=="s\
tring"?T.href=_=R:(T.href=_=R.src,T.integrity=L=typeof R.integrity=="string"?R.integrity:void 0,T.crossOrigin=z=typeof R==
"string"||R.crossOrigin==null?void 0:R.crossOrigin==="use-credentials"?"use-credentials":""),R=n;var x=_;R.scriptResources[x]=
null,R.moduleScriptResources[x]=null,R=[],rn(R,T),d.add(R),r.push('<script src="',w(_),'"'),typeof L=="string"&&r.push('\
 integrity="',w(L),'"'),typeof z=="string"&&r.push(' crossorigin="',w(z),'"'),or(r,n),r.push(' async=""></script>')}if(a!==
void 0)for(l=0;l<a.length;l++)T=a[l],z=_=void 0,L={rel:"modulepreload",fetchPriority:"low",nonce:void 0},typeof T=="stri\
ng"?L.href=A=T:(L.href=A=T.src,L.integrity=z=typeof T.integrity=="string"?T.integrity:void 0,L.crossOrigin=_=typeof T=="\
string"||T.crossOrigin==null?void 0:T.crossOrigin==="use-credentials"?"use-credentials":""),T=n,R=A,T.scriptResources[R]=
null,T.moduleScriptResources[R]=null,T=[],rn(T,L),d.add(T),r.push('<script type="module" src="',w(A),'"'),typeof z=="str\
ing"&&r.push(' integrity="',w(z),'"'),typeof _=="string"&&r.push(' crossorigin="',w(_),'"'),or(r,n),r.push(' async=""></\
script>');return{placeholderPrefix:i,segmentPrefix:u,boundaryPrefix:t,startInlineScript:"<script",startInlineStyle:"<sty\
le",preamble:{htmlChunks:null,headChunks:null,bodyChunks:null},externalRuntimeScript:null,bootstrapChunks:r,importMapChunks:[],
onHeaders:void 0,headers:null,resets:{font:{},dns:{},connect:{default:{},anonymous:{},credentials:{}},image:{},style:{}},
charsetChunks:[],viewportChunks:[],hoistableChunks:[],preconnects:o,fontPreloads:c,highImagePreloads:f,styles:s,bootstrapScripts:d,
scripts:h,bulkPreloads:g,preloads:b,nonce:{script:void 0,style:void 0},stylesToHoist:!1,generateStaticMarkup:e}}function Vl(n,e,t,r){
return t.generateStaticMarkup?(n.push(w(e)),!1):(e===""?n=r:(r&&n.push("<!-- -->"),n.push(w(e)),n=!0),n)}function wt(n,e,t,r){
e.generateStaticMarkup||t&&r&&n.push("<!-- -->")}var tc=Function.prototype.bind,rc=Symbol.for("react.client.reference");
function br(n){if(n==null)return null;if(typeof n=="function")return n.$$typeof===rc?null:n.displayName||n.name||null;if(typeof n==
"string")return n;switch(n){case ha:return"Fragment";case ga:return"Profiler";case da:return"StrictMode";case _r:return"\
Suspense";case Ci:return"SuspenseList";case ya:return"Activity";case _i:return"ViewTransition"}if(typeof n=="object")switch(n.
$$typeof){case sa:return"Portal";case Ar:return n.displayName||"Context";case va:return(n._context.displayName||"Context")+
".Consumer";case Pi:var e=n.render;return n=n.displayName,n||(n=e.displayName||e.name||"",n=n!==""?"ForwardRef("+n+")":"\
ForwardRef"),n;case Ai:return e=n.displayName||null,e!==null?e:br(n.type)||"Memo";case Sr:e=n._payload,n=n._init;try{return br(
n(e))}catch{}}return null}var Ql={},Re=null;function Nr(n,e){if(n!==e){n.context._currentValue2=n.parentValue,n=n.parent;
var t=e.parent;if(n===null){if(t!==null)throw Error(v(401))}else{if(t===null)throw Error(v(401));Nr(n,t)}e.context._currentValue2=
e.value}}function ka(n){n.context._currentValue2=n.parentValue,n=n.parent,n!==null&&ka(n)}function Na(n){var e=n.parent;
e!==null&&Na(e),n.context._currentValue2=n.value}function Ma(n,e){if(n.context._currentValue2=n.parentValue,n=n.parent,n===
null)throw Error(v(402));n.depth===e.depth?Nr(n,e):Ma(n,e)}function Oa(n,e){var t=e.parent;if(t===null)throw Error(v(402));
n.depth===t.depth?Nr(n,t):Oa(n,t),e.context._currentValue2=e.value}function ee(n){var e=Re;e!==n&&(e===null?Na(n):n===null?
ka(e):e.depth===n.depth?Nr(e,n):e.depth>n.depth?Ma(e,n):Oa(e,n),Re=n)}var Jl={enqueueSetState:function(n,e){n=n._reactInternals,
n.queue!==null&&n.queue.push(e)},enqueueReplaceState:function(n,e){n=n._reactInternals,n.replace=!0,n.queue=[e]},enqueueForceUpdate:function(){}},
ic={id:1,overflow:""};function Fa(n){var e=n.overflow;return n=n.id,(n&~(1<<32-ur(n)-1)).toString(32)+e}function re(n,e,t){
var r=n.id;n=n.overflow;var i=32-ur(r)-1;r&=~(1<<i),t+=1;var l=32-ur(e)+i;if(30<l){var a=i-i%5;return l=(r&(1<<a)-1).toString(
32),r>>=a,i-=a,{id:1<<32-ur(e)+i|t<<i|r,overflow:l+n}}return{id:1<<l|t<<i|r,overflow:n}}var ur=Math.clz32?Math.clz32:oc,
lc=Math.log,ac=Math.LN2;function oc(n){return n>>>=0,n===0?32:31-(lc(n)/ac|0)|0}function dn(){}var fn=Error(v(460));function uc(n,e,t){
switch(t=n[t],t===void 0?n.push(e):t!==e&&(e.then(dn,dn),e=t),e.status){case"fulfilled":return e.value;case"rejected":throw n=
e.reason,n===void 0&&!("reason"in e)?Error(v(600)):n;default:switch(typeof e.status=="string"?e.then(dn,dn):(n=e,n.status=
"pending",n.then(function(r){if(e.status==="pending"){var i=e;i.status="fulfilled",i.value=r}},function(r){if(e.status===
"pending"){var i=e;i.status="rejected",i.reason=r}})),e.status){case"fulfilled":return e.value;case"rejected":throw e.reason}
throw cr=e,fn}}var cr=null;function pr(){if(cr===null)throw Error(v(459));var n=cr;return cr=null,n}function cc(n,e){return n===
e&&(n!==0||1/n===1/e)||n!==n&&e!==e}var fc=typeof Object.is=="function"?Object.is:cc,Yn=null,Mi=null,Oi=null,Fi=null,fr=null,
N=null,bt=!1,Tr=!1,Rt=0,xt=0,Pt=-1,wr=0,Ke=null;function Ia(n){if(n=n._reason,typeof n=="function")try{var e=n()}catch{e=
"The reason for browser-only rendering could not be determined because its initializer threw."}else e=n;return e=Error(v(
603),n===void 0?void 0:{cause:e}),Object.defineProperty(e,kr,{value:!0}),e}function Mr(n){return typeof n!="object"||n===
null?!1:n[kr]===!0}function Ii(n){var e=Error(v(604),F.call(n,"cause")?{cause:n.cause}:void 0);if(n=n.stack,n!==void 0){
var t=n.indexOf(`
`);e.stack=e.name+": "+e.message+(t===-1?"":n.slice(t))}else e.stack=void 0;return e}var ie=null,Or=0;function Bn(){if(Yn===
null)throw Error(v(321));return Yn}function Kl(){if(0<Or)throw Error(v(312));return{memoizedState:null,queue:null,next:null}}
function Li(){return N===null?fr===null?(bt=!1,fr=N=Kl()):(bt=!0,N=fr):N.next===null?(bt=!1,N=N.next=Kl()):(bt=!0,N=N.next),
N}function le(){var n=Ke;return Ke=null,n}function Ct(){Fi=Oi=Mi=Yn=null,Tr=!1,fr=null,Or=0,N=ie=null}function La(n,e){return typeof e==
"function"?e(n):e}function ql(n,e,t){if(Yn=Bn(),N=Li(),bt){var r=N.queue;if(e=r.dispatch,ie!==null&&(t=ie.get(r),t!==void 0)){
ie.delete(r),r=N.memoizedState;do r=n(r,t.action),t=t.next;while(t!==null);return N.memoizedState=r,[r,e]}return[N.memoizedState,
e]}return n=n===La?typeof e=="function"?e():e:t!==void 0?t(e):e,N.memoizedState=n,n=N.queue={last:null,dispatch:null},n=
n.dispatch=sc.bind(null,Yn,n),[N.memoizedState,n]}function jl(n,e){if(Yn=Bn(),N=Li(),e=e===void 0?null:e,N!==null){var t=N.
memoizedState;if(t!==null&&e!==null){var r=t[1];n:if(r===null)r=!1;else{for(var i=0;i<r.length&&i<e.length;i++)if(!fc(e[i],
r[i])){r=!1;break n}r=!0}if(r)return t[0]}}return n=n(),N.memoizedState=[n,e],n}function sc(n,e,t){if(25<=Or)throw Error(
v(301));if(n===Yn)if(Tr=!0,n={action:t,next:null},ie===null&&(ie=new Map),t=ie.get(e),t===void 0)ie.set(e,n);else{for(e=
t;e.next!==null;)e=e.next;e.next=n}}function hc(){throw Error(v(440))}function dc(){throw Error(v(394))}function gc(){throw Error(
v(479))}function $l(n,e,t){Bn();var r=xt++,i=Oi;if(typeof n.$$FORM_ACTION=="function"){var l=null,a=Fi;i=i.formState;var u=n.
$$IS_SIGNATURE_EQUAL;if(i!==null&&typeof u=="function"){var o=i[1];u.call(n,i[2],i[3])&&(l=t!==void 0?"p"+t:"k"+Fl(JSON.
stringify([a,null,r]),0),o===l&&(Pt=r,e=i[0]))}var c=n.bind(null,e);return n=function(s){c(s)},typeof c.$$FORM_ACTION=="\
function"&&(n.$$FORM_ACTION=function(s){s=c.$$FORM_ACTION(s),t!==void 0&&(t+="",s.action=t);var d=s.data;return d&&(l===
null&&(l=t!==void 0?"p"+t:"k"+Fl(JSON.stringify([a,null,r]),0)),d.append("$ACTION_KEY",l)),s}),[e,n,!1]}var f=n.bind(null,
e);return[e,function(s){f(s)},!1]}function Ha(n){var e=wr;return wr+=1,Ke===null&&(Ke=[]),uc(Ke,n,e)}function vc(){throw Error(
v(393))}var na={readContext:function(n){return n._currentValue2},use:function(n){if(n!==null&&typeof n=="object"){if(typeof n.
then=="function")return Ha(n);if(n.$$typeof===kr)throw Ia(n);if(n.$$typeof===Ar)return n._currentValue2}throw Error(v(438,
String(n)))},useContext:function(n){return Bn(),n._currentValue2},useMemo:jl,useReducer:ql,useRef:function(n){Yn=Bn(),N=
Li();var e=N.memoizedState;return e===null?(n={current:n},N.memoizedState=n):e},useState:function(n){return ql(La,n)},useInsertionEffect:dn,
useLayoutEffect:dn,useCallback:function(n,e){return jl(function(){return n},e)},useImperativeHandle:dn,useEffect:dn,useDebugValue:dn,
useDeferredValue:function(n,e){return Bn(),e!==void 0?e:n},useTransition:function(){return Bn(),[!1,dc]},useId:function(){
var n=Fa(Mi.treeContext),e=sr;if(e===null)throw Error(v(404));var t=Rt++;return ma(e,n,t)},useSyncExternalStore:function(n,e,t){
if(t===void 0)throw Error(v(407));return t()},useOptimistic:function(n){return Bn(),[n,gc]},useActionState:$l,useFormState:$l,
useHostTransitionStatus:function(){return Bn(),_u},useMemoCache:function(n){for(var e=Array(n),t=0;t<n;t++)e[t]=Tu;return e},
useCacheRefresh:function(){return vc},useEffectEvent:function(){return hc}},sr=null,yc={getCacheForType:function(){throw Error(
v(248))},cacheSignal:function(){throw Error(v(248))}},si,ea;function me(n){if(si===void 0)try{throw Error()}catch(t){var e=t.
stack.trim().match(/\n( *(at )?)/);si=e&&e[1]||"",ea=-1<t.stack.indexOf(`
    at`)?" (<anonymous>)":-1<t.stack.indexOf("@")?"@unknown:0:0":""}return`
`+si+n+ea}var hi=!1;function ir(n,e){if(!n||hi)return"";hi=!0;var t=Error.prepareStackTrace;Error.prepareStackTrace=void 0;
try{var r={DetermineComponentFrameRoot:function(){try{if(e){var s=function(){throw Error()};if(Object.defineProperty(s.prototype,
"props",{set:function(){throw Error()}}),typeof Reflect=="object"&&Reflect.construct){try{Reflect.construct(s,[])}catch(g){
var d=g}Reflect.construct(n,[],s)}else{try{s.call()}catch(g){d=g}s=!1;try{var h=Object.getOwnPropertyDescriptor(n.prototype,
"props");Object.defineProperty(n.prototype,"props",{configurable:!0,set:function(){throw Error()}}),s=!0,new n}finally{s&&
(h!==void 0?Object.defineProperty(n.prototype,"props",h):delete n.prototype.props)}}}else{try{throw Error()}catch(g){d=g}
(s=n())&&typeof s.catch=="function"&&s.catch(function(){})}}catch(g){if(g&&d&&typeof g.stack=="string")return[g.stack,d.
stack]}return[null,null]}};r.DetermineComponentFrameRoot.displayName="DetermineComponentFrameRoot";var i=Object.getOwnPropertyDescriptor(
r.DetermineComponentFrameRoot,"name");i&&i.configurable&&Object.defineProperty(r.DetermineComponentFrameRoot,"name",{value:"\
DetermineComponentFrameRoot"});var l=r.DetermineComponentFrameRoot(),a=l[0],u=l[1];if(a&&u){var o=a.split(`
`),c=u.split(`
`);for(i=r=0;r<o.length&&!o[r].includes("DetermineComponentFrameRoot");)r++;for(;i<c.length&&!c[i].includes("DetermineCo\
mponentFrameRoot");)i++;if(r===o.length||i===c.length)for(r=o.length-1,i=c.length-1;1<=r&&0<=i&&o[r]!==c[i];)i--;for(;1<=
r&&0<=i;r--,i--)if(o[r]!==c[i]){if(r!==1||i!==1)do if(r--,i--,0>i||o[r]!==c[i]){var f=`
`+o[r].replace(" at new "," at ");return n.displayName&&f.includes("<anonymous>")&&(f=f.replace("<anonymous>",n.displayName)),
f}while(1<=r&&0<=i);break}}}finally{hi=!1,Error.prepareStackTrace=t}return(t=n?n.displayName||n.name:"")?me(t):""}function Da(n){
if(typeof n=="string")return me(n);if(typeof n=="function")return n.prototype&&n.prototype.isReactComponent?ir(n,!0):ir(
n,!1);if(typeof n=="object"&&n!==null){switch(n.$$typeof){case Pi:return ir(n.render,!1);case Ai:return ir(n.type,!1);case Sr:
var e=n,t=e._payload;e=e._init;try{n=e(t)}catch{return me("Lazy")}return Da(n)}if(typeof n.name=="string"){n:{t=n.name,e=
n.env;var r=n.debugLocation;if(r!=null&&(n=Error.prepareStackTrace,Error.prepareStackTrace=void 0,r=r.stack,Error.prepareStackTrace=
n,r.startsWith(`Error: react-stack-top-frame
`)&&(r=r.slice(29)),n=r.indexOf(`
`),n!==-1&&(r=r.slice(n+1)),n=r.indexOf("react_stack_bottom_frame"),n!==-1&&(n=r.lastIndexOf(`
`,n)),n=n!==-1?r=r.slice(0,n):"",r=n.lastIndexOf(`
`),n=r===-1?n:n.slice(r+1),n.indexOf(t)!==-1)){t=`
`+n;break n}t=me(t+(e?" ["+e+"]":""))}return t}}switch(n){case Ci:return me("SuspenseList");case _r:return me("Suspense");case _i:
return me("ViewTransition")}return""}function $e(n,e){return(500<e.byteSize||e.defer)&&e.preamble===null}function bc(n){
if(typeof n=="object"&&n!==null&&typeof n.environmentName=="string"){var e=n.environmentName;n=[n].slice(0),typeof n[0]==
"string"?n.splice(0,1,"[%s] "+n[0]," "+e+" "):n.splice(0,0,"[%s]"," "+e+" "),n.unshift(console),e=tc.apply(console.error,
n),e()}else console.error(n);return null}function pc(n,e,t,r,i,l,a,u,o,c,f){var s=new Set;this.destination=null,this.flushScheduled=
!1,this.resumableState=n,this.renderState=e,this.rootFormatContext=t,this.progressiveChunkSize=r===void 0?12800:r,this.status=
10,this.fatalError=null,this.aborted=!1,this.pendingRootTasks=this.allPendingTasks=this.nextSegmentId=0,this.completedPreambleSegments=
this.completedRootSegment=null,this.byteSize=0,this.abortableTasks=s,this.pingedTasks=[],this.currentTask=null,this.clientRenderedBoundaries=
[],this.completedBoundaries=[],this.partialBoundaries=[],this.postponedState=this.trackedPostpones=null,this.onError=i===
void 0?bc:i,this.onBrowserBailout=l===void 0?dn:l,this.onAllReady=a===void 0?dn:a,this.onShellReady=u===void 0?dn:u,this.
onShellError=o===void 0?dn:o,this.onFatalError=c===void 0?dn:c,this.renderLifetimeController=null,this.formState=f===void 0?
null:f}function Tc(n,e,t,r,i,l,a,u,o,c,f,s){return e=new pc(e,t,r,i,l,a,u,o,c,f,s),t=Pe(e,0,null,r,!1,!1),t.parentFlushed=
!0,n=mr(e,null,n,-1,null,t,null,null,e.abortableTasks,null,r,null,ic,null,null),At(n),e.pingedTasks.push(n),e}var $=null;
function Er(n,e){n.pingedTasks.push(e),n.pingedTasks.length===1&&(n.flushScheduled=n.destination!==null,Ya(n))}function Hi(n,e,t,r,i){
return t={status:0,rootSegmentID:-1,parentFlushed:!1,pendingTasks:0,row:e,completedSegments:[],byteSize:0,defer:i,fallbackAbortableTasks:t,
errorDigest:null,contentState:pi(),fallbackState:pi(),preamble:r,tracked:null},e!==null&&(e.pendingTasks++,r=e.boundaries,
r!==null&&(n.allPendingTasks++,t.pendingTasks++,r.push(t)),n=e.inheritedHoistables,n!==null&&je(t.contentState,n)),t}function mr(n,e,t,r,i,l,a,u,o,c,f,s,d,h,g){
n.allPendingTasks++,i===null?n.pendingRootTasks++:i.pendingTasks++,h!==null&&h.pendingTasks++;var b={replay:null,node:t,
childIndex:r,ping:{resolve:function(){return Er(n,b)},reject:function(A){n.aborted?b.abortSet.delete(b)&&_e(b,n,A):Er(n,
b)}},blockedBoundary:i,blockedSegment:l,blockedPreamble:a,hoistableState:u,abortSet:o,keyPath:c,formatContext:f,context:s,
treeContext:d,row:h,componentStack:g,thenableState:e};return o.add(b),b}function Ba(n,e,t,r,i,l,a,u,o,c,f,s,d,h){n.allPendingTasks++,
l===null?n.pendingRootTasks++:l.pendingTasks++,d!==null&&d.pendingTasks++,t.pendingTasks++;var g={replay:t,node:r,childIndex:i,
ping:{resolve:function(){return Er(n,g)},reject:function(b){n.aborted?g.abortSet.delete(g)&&_e(g,n,b):Er(n,g)}},blockedBoundary:l,
blockedSegment:null,blockedPreamble:null,hoistableState:a,abortSet:u,keyPath:o,formatContext:c,context:f,treeContext:s,row:d,
componentStack:h,thenableState:e};return u.add(g),g}function Pe(n,e,t,r,i,l){return{status:0,parentFlushed:!1,id:-1,index:e,
chunks:[],children:[],preambleChildren:[],parentFormatContext:r,boundary:t,lastPushedText:i,textEmbedded:l}}function At(n){
var e=n.node;typeof e=="object"&&e!==null&&e.$$typeof===fa&&(n.componentStack={parent:n.componentStack,type:e.type})}function Ei(n){
return n===null?null:{parent:n.parent,type:"Suspense Fallback"}}function Ae(n){var e={};return n&&Object.defineProperty(
e,"componentStack",{configurable:!0,enumerable:!0,get:function(){try{var t="",r=n;do t+=Da(r.type),r=r.parent;while(r);var i=t}catch(l){
i=`
Error generating stack: `+l.message+`
`+l.stack}return Object.defineProperty(e,"componentStack",{value:i}),i}}),e}function V(n,e,t){if(Mr(e))return n=n.onBrowserBailout,
n(e,t),"";if(n=n.onError,e=n(e,t),e==null||typeof e=="string")return e===""?void 0:e}function Ce(n,e){var t=n.onShellError,
r=n.onFatalError;n.pendingRootTasks!==0&&t(e),r(e),Ui(n),n.destination!==null?(n.status=13,n.destination.destroy(e)):(n.
status=12,n.aborted||(n.fatalError=e))}function ln(n,e){Di(n,e.next,e.hoistables)}function Di(n,e,t){for(;e!==null;){t!==
null&&(je(e.hoistables,t),e.inheritedHoistables=t);var r=e.boundaries;if(r!==null){e.boundaries=null;for(var i=0;i<r.length;i++){
var l=r[i];t!==null&&je(l.contentState,t),Se(n,l,null,null)}}if(e.pendingTasks--,0<e.pendingTasks)break;t=e.hoistables,e=
e.next}}function mi(n,e){var t=e.boundaries;if(t!==null&&e.pendingTasks===t.length){for(var r=!0,i=0;i<t.length;i++){var l=t[i];
if(l.pendingTasks!==1||l.parentFlushed||$e(n,l)){r=!1;break}}r&&Di(n,e,e.hoistables)}}function pt(n){var e={pendingTasks:1,
boundaries:null,hoistables:pi(),inheritedHoistables:null,together:!1,next:null};return n!==null&&0<n.pendingTasks&&(e.pendingTasks++,
e.boundaries=[],n.next=e),e}function ta(n,e,t,r,i){var l=e.keyPath,a=e.treeContext,u=e.row;e.keyPath=t,t=r.length;var o=null;
if(e.replay!==null){var c=e.replay.slots;if(c!==null&&typeof c=="object")for(var f=0;f<t;f++){var s=i!=="backwards"&&i!==
"unstable_legacy-backwards"?f:t-1-f,d=r[s];e.row=o=pt(o),e.treeContext=re(a,t,s);var h=c[s];typeof h=="number"?(Fr(n,e,h,
d,s),delete c[s]):G(n,e,d,s),--o.pendingTasks===0&&ln(n,o)}else for(c=0;c<t;c++)f=i!=="backwards"&&i!=="unstable_legacy-\
backwards"?c:t-1-c,s=r[f],e.row=o=pt(o),e.treeContext=re(a,t,f),G(n,e,s,f),--o.pendingTasks===0&&ln(n,o)}else if(i!=="ba\
ckwards"&&i!=="unstable_legacy-backwards")for(i=0;i<t;i++)c=r[i],e.row=o=pt(o),e.treeContext=re(a,t,i),G(n,e,c,i),--o.pendingTasks===
0&&ln(n,o);else{for(c=e.blockedSegment,f=c.children.length,s=c.chunks.length,d=0;d<t;d++){h=i==="unstable_legacy-backwar\
ds"?t-1-d:d;var g=r[h];e.row=o=pt(o),e.treeContext=re(a,t,h);var b=Pe(n,s,null,e.formatContext,h===0?c.lastPushedText:!0,
!0);c.children.splice(f,0,b),e.blockedSegment=b;try{G(n,e,g,h),wt(b.chunks,n.renderState,b.lastPushedText,b.textEmbedded),
b.status=1,--o.pendingTasks===0&&ln(n,o)}catch(A){throw b.status=n.aborted?3:4,A}}e.blockedSegment=c,c.lastPushedText=!1}
u!==null&&o!==null&&0<o.pendingTasks&&(u.pendingTasks++,o.next=u),e.treeContext=a,e.row=u,e.keyPath=l}function ra(n,e,t,r,i,l){
var a=e.thenableState;for(e.thenableState=null,Yn={},Mi=e,Oi=n,Fi=t,xt=Rt=0,Pt=-1,wr=0,Ke=a,n=r(i,l);Tr;)Tr=!1,xt=Rt=0,Pt=
-1,wr=0,Or+=1,N=null,n=r(i,l);return Ct(),n}function ia(n,e,t,r,i,l,a){var u=!1;if(l!==0&&n.formState!==null){var o=e.blockedSegment;
if(o!==null){u=!0,o=o.chunks;for(var c=0;c<l;c++)c===a?o.push("<!--F!-->"):o.push("<!--F-->")}}l=e.keyPath,e.keyPath=t,i?
(t=e.treeContext,e.treeContext=re(t,1,0),G(n,e,r,-1),e.treeContext=t):u?G(n,e,r,-1):Tn(n,e,r,-1),e.keyPath=l}function Rr(n,e,t,r,i,l){
if(typeof r=="function")if(r.prototype&&r.prototype.isReactComponent){var a=i;if("ref"in i){a={};for(var u in i)u!=="ref"&&
(a[u]=i[u])}var o=r.defaultProps;if(o){a===i&&(a=gn({},a,i));for(var c in o)a[c]===void 0&&(a[c]=o[c])}var f=a,s=Ql,d=r.
contextType;typeof d=="object"&&d!==null&&(s=d._currentValue2);var h=new r(f,s),g=h.state!==void 0?h.state:null;h.updater=
Jl,h.props=f,h.state=g;var b={queue:[],replace:!1};h._reactInternals=b;var A=r.contextType;h.context=typeof A=="object"&&
A!==null?A._currentValue2:Ql;var R=r.getDerivedStateFromProps;if(typeof R=="function"){var _=R(f,g),z=_==null?g:gn({},g,
_);h.state=z}if(typeof r.getDerivedStateFromProps!="function"&&typeof h.getSnapshotBeforeUpdate!="function"&&(typeof h.UNSAFE_componentWillMount==
"function"||typeof h.componentWillMount=="function")){var L=h.state;if(typeof h.componentWillMount=="function"&&h.componentWillMount(),
typeof h.UNSAFE_componentWillMount=="function"&&h.UNSAFE_componentWillMount(),L!==h.state&&Jl.enqueueReplaceState(h,h.state,
null),b.queue!==null&&0<b.queue.length){var T=b.queue,x=b.replace;if(b.queue=null,b.replace=!1,x&&T.length===1)h.state=T[0];else{
for(var M=x?T[0]:h.state,vn=!0,m=x?1:0;m<T.length;m++){var H=T[m],D=typeof H=="function"?H.call(h,M,f,void 0):H;D!=null&&
(vn?(vn=!1,M=gn({},M,D)):gn(M,D))}h.state=M}}else b.queue=null}var Z=h.render();if(n.aborted)throw null;var O=e.keyPath;
e.keyPath=t,Tn(n,e,Z,-1),e.keyPath=O}else{var sn=ra(n,e,t,r,i,void 0);if(n.aborted)throw null;ia(n,e,t,sn,Rt!==0,xt,Pt)}else if(typeof r==
"string"){var Y=e.blockedSegment;if(Y===null){var Gn=i.children,yn=e.formatContext,U=e.keyPath;e.formatContext=Hl(yn,r,i),
e.keyPath=t,G(n,e,Gn,-1),e.formatContext=yn,e.keyPath=U}else{var ue=Mu(Y.chunks,r,i,n.resumableState,n.renderState,e.blockedPreamble,
e.hoistableState,e.formatContext,Y.lastPushedText);Y.lastPushedText=!1;var J=e.formatContext,kn=e.keyPath;if(e.keyPath=t,
(e.formatContext=Hl(J,r,i)).insertionMode===3){var K=Pe(n,0,null,e.formatContext,!1,!1);Y.preambleChildren.push(K),e.blockedSegment=
K;try{G(n,e,ue,-1),wt(K.chunks,n.renderState,K.lastPushedText,K.textEmbedded),K.status=1}finally{e.blockedSegment=Y}}else
G(n,e,ue,-1);e.formatContext=J,e.keyPath=kn;n:{var wn=Y.chunks,Rn=n.resumableState;switch(r){case"title":case"style":case"\
script":case"area":case"base":case"br":case"col":case"embed":case"hr":case"img":case"input":case"keygen":case"link":case"\
meta":case"param":case"source":case"track":case"wbr":break n;case"body":if(1>=J.insertionMode){Rn.hasBody=!0;break n}break;case"\
html":if(J.insertionMode===0){Rn.hasHtml=!0;break n}break;case"head":if(1>=J.insertionMode)break n}wn.push(xe(r))}Y.lastPushedText=
!1}}else{switch(r){case pu:case da:case ga:case ha:var Nn=e.keyPath;e.keyPath=t,Tn(n,e,i.children,-1),e.keyPath=Nn;return;case ya:
var I=e.blockedSegment;if(I===null){if(i.mode!=="hidden"){var Ln=e.keyPath;e.keyPath=t,G(n,e,i.children,-1),e.keyPath=Ln}}else if(i.
mode!=="hidden"){n.renderState.generateStaticMarkup||I.chunks.push("<!--&-->"),I.lastPushedText=!1;var ce=e.keyPath;e.keyPath=
t,G(n,e,i.children,-1),e.keyPath=ce,n.renderState.generateStaticMarkup||I.chunks.push("<!--/&-->"),I.lastPushedText=!1}return;case Ci:
n:{var Mn=i.children,Xn=i.revealOrder;if(Xn!=="independent"&&Xn!=="together"){if(dr(Mn)){ta(n,e,t,Mn,Xn);break n}var rt=ba(
Mn);if(rt){var Oe=rt.call(Mn);if(Oe){var Fe=Oe.next();if(!Fe.done){do Fe=Oe.next();while(!Fe.done);ta(n,e,t,Mn,Xn)}break n}}}
if(Xn==="together"){var Ut=e.keyPath,On=e.row,nn=e.row=pt(null);nn.boundaries=[],nn.together=!0,e.keyPath=t,Tn(n,e,Mn,-1),
--nn.pendingTasks===0&&ln(n,nn),e.keyPath=Ut,e.row=On,On!==null&&0<nn.pendingTasks&&(On.pendingTasks++,nn.next=On)}else{
var Wt=e.keyPath;e.keyPath=t,Tn(n,e,Mn,-1),e.keyPath=Wt}}return;case _i:var it=e.formatContext,fe=e.keyPath,Gt=n.resumableState;
if(i.name==null||i.name==="auto"){var Hn=Fa(e.treeContext);ma(Gt,Hn,0)}if(e.formatContext=it,e.keyPath=t,i.name!=null&&i.
name!=="auto")Tn(n,e,i.children,-1);else{var Zn=e.treeContext;e.treeContext=re(Zn,1,0),G(n,e,i.children,-1),e.treeContext=
Zn}e.formatContext=it,e.keyPath=fe;return;case bu:throw Error(v(343));case _r:n:if(e.replay!==null){var se=e.keyPath,Vn=e.
formatContext,he=e.row;e.keyPath=t,e.formatContext=ar(n.resumableState,Vn),e.row=null;var Fn=i.children;try{G(n,e,Fn,-1)}finally{
e.keyPath=se,e.formatContext=Vn,e.row=he}}else{var Ie=e.keyPath,Qn=e.formatContext,un=e.row,lt=e.blockedBoundary,de=e.blockedPreamble,
Xt=e.hoistableState,xn=e.blockedSegment,at=i.fallback,Jn=i.children,Kn=new Set,S=Hi(n,e.row,Kn,null,!1),Pn=Pe(n,xn.chunks.
length,S,e.formatContext,!1,!1);xn.children.push(Pn),xn.lastPushedText=!1;var En=Pe(n,0,null,e.formatContext,!1,!1);En.parentFlushed=
!0;var ot=n.trackedPostpones;if(ot!==null){var Le=e.componentStack,He=[t[0],"Suspense Fallback",t[2]];if(ot!==null){var Zt=[
He[1],He[2],[],null];ot.workingMap.set(He,Zt),S.tracked={contentKeyPath:t,fallbackNode:Zt}}e.blockedSegment=Pn,e.blockedPreamble=
S.preamble===null?null:S.preamble.fallback,e.keyPath=He,e.formatContext=vi(n.resumableState,Qn),e.componentStack=Ei(Le);
try{G(n,e,at,-1),wt(Pn.chunks,n.renderState,Pn.lastPushedText,Pn.textEmbedded),Pn.status=1}catch(In){throw Pn.status=n.aborted?
3:4,In}finally{e.blockedSegment=xn,e.blockedPreamble=de,e.keyPath=Ie,e.formatContext=Qn}var Vt=mr(n,null,Jn,-1,S,En,S.preamble===
null?null:S.preamble.content,S.contentState,e.abortSet,t,ar(n.resumableState,e.formatContext),e.context,e.treeContext,null,
Le);At(Vt),n.pingedTasks.push(Vt)}else{e.blockedBoundary=S,e.blockedPreamble=S.preamble===null?null:S.preamble.content,e.
hoistableState=S.contentState,e.blockedSegment=En,e.keyPath=t,e.formatContext=ar(n.resumableState,Qn),e.row=null;try{if(G(
n,e,Jn,-1),wt(En.chunks,n.renderState,En.lastPushedText,En.textEmbedded),En.status=1,_t(S,En),S.pendingTasks===0&&S.status===
0){if(S.status=1,!$e(n,S)){un!==null&&--un.pendingTasks===0&&ln(n,un),n.pendingRootTasks===0&&e.blockedPreamble&&Mt(n);break n}}else
un!==null&&un.together&&mi(n,un)}catch(In){if(S.status=4,n.aborted){En.status=3;var Cn=n.fatalError}else En.status=4,Cn=
In;var De=Ae(e.componentStack),ge=V(n,Cn,De);S.errorDigest=ge,Bi(n,S)}finally{e.blockedBoundary=lt,e.blockedPreamble=de,
e.hoistableState=Xt,e.blockedSegment=xn,e.keyPath=Ie,e.formatContext=Qn,e.row=un}var Dn=mr(n,null,at,-1,lt,Pn,S.preamble===
null?null:S.preamble.fallback,S.fallbackState,Kn,[t[0],"Suspense Fallback",t[2]],vi(n.resumableState,e.formatContext),e.
context,e.treeContext,e.row,Ei(e.componentStack));At(Dn),n.pingedTasks.push(Dn)}}return}if(typeof r=="object"&&r!==null)
switch(r.$$typeof){case Pi:if("ref"in i){var qn={};for(var jn in i)jn!=="ref"&&(qn[jn]=i[jn])}else qn=i;var ut=ra(n,e,t,
r.render,qn,l);ia(n,e,t,ut,Rt!==0,xt,Pt);return;case Ai:Rr(n,e,t,r.type,i,l);return;case Ar:var Qt=i.children,Zr=e.keyPath,
Be=i.value,Jt=r._currentValue2;r._currentValue2=Be;var $n=Re,ve={parent:$n,depth:$n===null?0:$n.depth+1,context:r,parentValue:Jt,
value:Be};Re=ve,e.context=ve,e.keyPath=t,Tn(n,e,Qt,-1);var ye=Re;if(ye===null)throw Error(v(403));ye.context._currentValue2=
ye.parentValue;var ze=Re=ye.parent;e.context=ze,e.keyPath=Zr;return;case va:var ct=i.children,Kt=ct(r._context._currentValue2),
qt=e.keyPath;e.keyPath=t,Tn(n,e,Kt,-1),e.keyPath=qt;return;case Sr:var Vr=r._init,Ye=Vr(r._payload);if(n.aborted)throw null;
Rr(n,e,t,Ye,i,l);return}throw Error(v(130,r==null?r:typeof r,""))}}function Fr(n,e,t,r,i){var l=e.replay,a=e.blockedBoundary,
u=Pe(n,0,null,e.formatContext,!1,!1);u.id=t,u.parentFlushed=!0;try{e.replay=null,e.blockedSegment=u,G(n,e,r,i),u.status=
1,a===null?n.completedRootSegment=u:(_t(a,u),a.parentFlushed&&n.partialBoundaries.push(a))}finally{e.replay=l,e.blockedSegment=
null}}function Tn(n,e,t,r){e.replay!==null&&typeof e.replay.slots=="number"?Fr(n,e,e.replay.slots,t,r):(e.node=t,e.childIndex=
r,t=e.componentStack,At(e),Ri(n,e),e.componentStack=t)}function Ri(n,e){var t=e.node,r=e.childIndex;if(t!==null){if(typeof t==
"object"){switch(t.$$typeof){case fa:var i=t.type,l=t.key,a=t.props;t=a.ref;var u=t!==void 0?t:null,o=br(i),c=l==null||l===
wu?r===-1?0:r:l;if(l=[e.keyPath,o,c],e.replay!==null)n:{var f=e.replay;for(r=f.nodes,t=0;t<r.length;t++){var s=r[t];if(c===
s[1]){if(s.length===4){if(o!==null&&o!==s[0])throw Error(v(490,s[0],o));var d=s[2],h=s[3],g=e.node;e.replay={nodes:d,slots:h,
pendingTasks:1};try{if(Rr(n,e,l,i,a,u),e.replay.pendingTasks===1&&0<e.replay.nodes.length)throw Error(v(488));e.replay.pendingTasks--}catch(M){
if(typeof M=="object"&&M!==null&&(M===fn||typeof M.then=="function"||M.message==="Maximum call stack size exceeded"))throw e.
node===g?e.replay=f:r.splice(t,1),M;e.replay.pendingTasks--,l=Ae(e.componentStack),g=n,a=e.blockedBoundary,n=n.aborted?n.
fatalError:M,l=V(g,n,l),Nt(g,a,d,h,n,l)}e.replay=f}else{if(i!==_r)throw Error(v(490,"Suspense",br(i)||"Unknown"));e:{f=s[5],
i=s[2],u=s[3],o=s[4]===null?[]:s[4][2],s=s[4]===null?null:s[4][3],c=e.keyPath;var b=e.formatContext,A=e.row,R=e.replay,_=e.
blockedBoundary,z=e.hoistableState,L=a.children;a=a.fallback;var T=new Set,x=Hi(n,e.row,T,null,!1);x.parentFlushed=!0,x.
rootSegmentID=f,e.blockedBoundary=x,e.hoistableState=x.contentState,e.keyPath=l,e.formatContext=ar(n.resumableState,b),e.
row=null,e.replay={nodes:i,slots:u,pendingTasks:1};try{if(G(n,e,L,-1),e.replay.pendingTasks===1&&0<e.replay.nodes.length)
throw Error(v(488));if(e.replay.pendingTasks--,x.pendingTasks===0&&x.status===0){x.status=1,n.completedBoundaries.push(x);
break e}}catch(M){x.status=4,d=n.aborted?n.fatalError:M,h=Ae(e.componentStack),g=V(n,d,h),x.errorDigest=g,e.replay.pendingTasks--,
n.clientRenderedBoundaries.push(x)}finally{e.blockedBoundary=_,e.hoistableState=z,e.replay=R,e.keyPath=c,e.formatContext=
b,e.row=A}d=Ba(n,null,{nodes:o,slots:s,pendingTasks:0},a,-1,_,x.fallbackState,T,[l[0],"Suspense Fallback",l[2]],vi(n.resumableState,
e.formatContext),e.context,e.treeContext,e.row,Ei(e.componentStack)),At(d),n.pingedTasks.push(d)}}r.splice(t,1);break n}}}else
Rr(n,e,l,i,a,u);return;case sa:throw Error(v(257));case Sr:if(d=t._init,t=d(t._payload),n.aborted)throw null;Tn(n,e,t,r);
return}if(dr(t)){xi(n,e,t,r);return}if((d=ba(t))&&(d=d.call(t))){if(t=d.next(),!t.done){h=[];do h.push(t.value),t=d.next();while(!t.
done);xi(n,e,h,r)}return}if(typeof t.then=="function")return e.thenableState=null,Tn(n,e,Ha(t),r);if(t.$$typeof===Ar)return Tn(
n,e,t._currentValue2,r);throw r=Object.prototype.toString.call(t),Error(v(31,r==="[object Object]"?"object with keys {"+
Object.keys(t).join(", ")+"}":r))}typeof t=="string"?(r=e.blockedSegment,r!==null&&(r.lastPushedText=Vl(r.chunks,t,n.renderState,
r.lastPushedText))):(typeof t=="number"||typeof t=="bigint")&&(r=e.blockedSegment,r!==null&&(r.lastPushedText=Vl(r.chunks,
""+t,n.renderState,r.lastPushedText)))}}function xi(n,e,t,r){var i=e.keyPath;if(r!==-1&&(e.keyPath=[e.keyPath,"Fragment",
r],e.replay!==null)){for(var l=e.replay,a=l.nodes,u=0;u<a.length;u++){var o=a[u];if(o[1]===r){r=o[2],o=o[3],e.replay={nodes:r,
slots:o,pendingTasks:1};try{if(xi(n,e,t,-1),e.replay.pendingTasks===1&&0<e.replay.nodes.length)throw Error(v(488));e.replay.
pendingTasks--}catch(s){if(typeof s=="object"&&s!==null&&(s===fn||typeof s.then=="function"))throw s;e.replay.pendingTasks--;
var c=Ae(e.componentStack);t=n;var f=e.blockedBoundary;n=n.aborted?n.fatalError:s,c=V(t,n,c),Nt(t,f,r,o,n,c)}e.replay=l,
a.splice(u,1);break}}e.keyPath=i;return}if(l=e.treeContext,a=t.length,e.replay!==null&&(u=e.replay.slots,u!==null&&typeof u==
"object")){for(r=0;r<a;r++)o=t[r],e.treeContext=re(l,a,r),f=u[r],typeof f=="number"?(Fr(n,e,f,o,r),delete u[r]):G(n,e,o,
r);e.treeContext=l,e.keyPath=i;return}for(u=0;u<a;u++)r=t[u],e.treeContext=re(l,a,u),G(n,e,r,u);e.treeContext=l,e.keyPath=
i}function za(n,e,t){t.status=5,t.rootSegmentID=n.nextSegmentId++;var r=t.tracked;if(r===null||(n=r.contentKeyPath,n===null))
throw Error(v(486));r=r.fallbackNode;var i=[],l=e.workingMap.get(n);return l===void 0?(t=[n[1],n[2],i,null,r,t.rootSegmentID],
e.workingMap.set(n,t),Cr(t,n[0],e),t):(l[4]=r,l[5]=t.rootSegmentID,l)}function la(n,e,t,r){r.status=5;var i=t.keyPath,l=t.
blockedBoundary;if(l===null)r.id=n.nextSegmentId++,e.rootSlots=r.id,n.completedRootSegment!==null&&(n.completedRootSegment.
status=5);else{if(l!==null&&l.status===0){var a=za(n,e,l);if(l.tracked!==null&&l.tracked.contentKeyPath===i&&t.childIndex===
-1){r.id===-1&&(r.id=r.parentFlushed?l.rootSegmentID:n.nextSegmentId++),a[3]=r.id;return}}if(r.id===-1&&(r.id=r.parentFlushed&&
l!==null?l.rootSegmentID:n.nextSegmentId++),t.childIndex===-1)i===null?e.rootSlots=r.id:(t=e.workingMap.get(i),t===void 0?
(t=[i[1],i[2],[],r.id],Cr(t,i[0],e)):t[3]=r.id);else{if(i===null){if(n=e.rootSlots,n===null)n=e.rootSlots={};else if(typeof n==
"number")throw Error(v(491))}else if(l=e.workingMap,a=l.get(i),a===void 0)n={},a=[i[1],i[2],[],n],l.set(i,a),Cr(a,i[0],e);else if(n=
a[3],n===null)n=a[3]={};else if(typeof n=="number")throw Error(v(491));n[t.childIndex]=r.id}}}function Bi(n,e){n=n.trackedPostpones,
n!==null&&(e=e.tracked,e!==null&&(e=e.contentKeyPath,e!==null&&(n=n.workingMap.get(e),n!==void 0&&(n.length=4,n[2]=[],n[3]=
null))))}function aa(n,e,t){return Ba(n,t,e.replay,e.node,e.childIndex,e.blockedBoundary,e.hoistableState,e.abortSet,e.keyPath,
e.formatContext,e.context,e.treeContext,e.row,e.componentStack)}function oa(n,e,t){var r=e.blockedSegment,i=Pe(n,r.chunks.
length,null,e.formatContext,r.lastPushedText,!0);return r.children.push(i),r.lastPushedText=!1,mr(n,t,e.node,e.childIndex,
e.blockedBoundary,i,e.blockedPreamble,e.hoistableState,e.abortSet,e.keyPath,e.formatContext,e.context,e.treeContext,e.row,
e.componentStack)}function G(n,e,t,r){var i=e.formatContext,l=e.context,a=e.keyPath,u=e.treeContext,o=e.componentStack,c=e.
blockedSegment;if(c===null){c=e.replay;try{return Tn(n,e,t,r)}catch(d){if(Ct(),t=d===fn?pr():d,!n.aborted&&typeof t=="ob\
ject"&&t!==null){if(typeof t.then=="function"){r=d===fn?le():null,n=aa(n,e,r).ping,t.then(n.resolve,n.reject),e.formatContext=
i,e.context=l,e.keyPath=a,e.treeContext=u,e.componentStack=o,e.replay=c,ee(l);return}if(t.message==="Maximum call stack \
size exceeded"){t=d===fn?le():null,t=aa(n,e,t),n.pingedTasks.push(t),e.formatContext=i,e.context=l,e.keyPath=a,e.treeContext=
u,e.componentStack=o,e.replay=c,ee(l);return}}}}else{var f=c.children.length,s=c.chunks.length;try{return Tn(n,e,t,r)}catch(d){
if(Ct(),c.children.length=f,c.chunks.length=s,t=d===fn?pr():d,!n.aborted&&typeof t=="object"&&t!==null){if(typeof t.then==
"function"){c=t,t=d===fn?le():null,n=oa(n,e,t).ping,c.then(n.resolve,n.reject),e.formatContext=i,e.context=l,e.keyPath=a,
e.treeContext=u,e.componentStack=o,ee(l);return}if(t.message==="Maximum call stack size exceeded"){c=d===fn?le():null,c=
oa(n,e,c),n.pingedTasks.push(c),e.formatContext=i,e.context=l,e.keyPath=a,e.treeContext=u,e.componentStack=o,ee(l);return}}}}
throw e.formatContext=i,e.context=l,e.keyPath=a,e.treeContext=u,ee(l),t}function wc(n){var e=n.blockedBoundary,t=n.blockedSegment;
t!==null&&(t.status=3,Se(this,e,n.row,t))}function Nt(n,e,t,r,i,l){for(var a=0;a<t.length;a++){var u=t[a];if(u.length===
4)Nt(n,e,u[2],u[3],i,l);else{u=u[5];var o=n,c=l,f=Hi(o,null,new Set,null,!1);f.parentFlushed=!0,f.rootSegmentID=u,f.status=
4,f.errorDigest=c,f.parentFlushed&&o.clientRenderedBoundaries.push(f)}}if(t.length=0,r!==null){if(e===null)throw Error(v(
487));if(e.status!==4&&(e.status=4,e.errorDigest=l,e.parentFlushed&&n.clientRenderedBoundaries.push(e)),typeof r=="objec\
t")for(var s in r)delete r[s]}}function xr(n,e){if(n!==e.currentTask){var t=n.blockedBoundary;n=n.blockedSegment,n!==null&&
(n.status=3),t!==null&&t.fallbackAbortableTasks.forEach(function(r){return xr(r,e)})}}function _e(n,e,t){if(n!==e.currentTask){
var r=n.blockedBoundary,i=n.blockedSegment;if(i===null||i.status===3){var l=Ae(n.componentStack),a=Mr(t);if(r===null){if(r=
n.replay,r===null){a||e.trackedPostpones===null||i===null?a?(n=Ii(t),V(e,n,l),e.status!==12&&e.status!==13&&Ce(e,n)):(V(
e,t,l),e.status!==12&&e.status!==13&&Ce(e,t)):(r=e.trackedPostpones,V(e,t,l),la(e,r,n,i),Se(e,null,n.row,i));return}e.status!==
12&&e.status!==13&&(r.pendingTasks--,r.pendingTasks===0&&0<r.nodes.length&&(l=V(e,t,l),Nt(e,null,r.nodes,r.slots,t,l)),e.
pendingRootTasks--,e.pendingRootTasks===0&&Yi(e))}else{var u=e.trackedPostpones;if(r.status!==4){if(!a&&u!==null&&i!==null)
return V(e,t,l),la(e,u,n,i),r.fallbackAbortableTasks.forEach(function(o){return _e(o,e,t)}),r.fallbackAbortableTasks.clear(),
Se(e,r,n.row,i);r.status=4,l=V(e,t,l),r.errorDigest=l,Bi(e,r),r.parentFlushed&&e.clientRenderedBoundaries.push(r)}r.pendingTasks--,
l=r.row,l!==null&&--l.pendingTasks===0&&ln(e,l),r.fallbackAbortableTasks.forEach(function(o){return _e(o,e,t)}),r.fallbackAbortableTasks.
clear()}n=n.row,n!==null&&--n.pendingTasks===0&&ln(e,n),e.allPendingTasks--,e.allPendingTasks===0&&Pr(e)}}}function zi(n,e){
try{var t=n.renderState,r=t.onHeaders;if(r){var i=t.headers;if(i){t.headers=null;var l=i.preconnects;if(i.fontPreloads&&
(l&&(l+=", "),l+=i.fontPreloads),i.highImagePreloads&&(l&&(l+=", "),l+=i.highImagePreloads),!e){var a=t.styles.values(),
u=a.next();n:for(;0<i.remainingCapacity&&!u.done;u=a.next())for(var o=u.value.sheets.values(),c=o.next();0<i.remainingCapacity&&
!c.done;c=o.next()){var f=c.value,s=f.props,d=s.href,h=f.props,g=yr(h.href,"style",{crossOrigin:h.crossOrigin,integrity:h.
integrity,nonce:h.nonce,type:h.type,fetchPriority:h.fetchPriority,referrerPolicy:h.referrerPolicy,media:h.media});if(0<=
(i.remainingCapacity-=g.length+2))t.resets.style[d]=mn,l&&(l+=", "),l+=g,t.resets.style[d]=typeof s.crossOrigin=="string"||
typeof s.integrity=="string"?[s.crossOrigin,s.integrity]:mn;else break n}}r(l?{Link:l}:{})}}}catch(b){V(n,b,{})}}function Yi(n){
n.trackedPostpones===null&&zi(n,!0),n.trackedPostpones===null&&Mt(n),n=n.onShellReady,n()}function Pr(n){zi(n,n.trackedPostpones===
null?!0:n.completedRootSegment===null||n.completedRootSegment.status!==5),Mt(n),n=n.onAllReady,n()}function _t(n,e){if(e.
chunks.length===0&&e.children.length===1&&e.children[0].boundary===null&&e.children[0].id===-1){var t=e.children[0];t.id=
e.id,t.parentFlushed=!0,t.status!==1&&t.status!==3&&t.status!==4||_t(n,t)}else n.completedSegments.push(e)}function Se(n,e,t,r){
if(t!==null&&(--t.pendingTasks===0?ln(n,t):t.together&&mi(n,t)),n.allPendingTasks--,e===null){if(r!==null&&r.parentFlushed){
if(n.completedRootSegment!==null)throw Error(v(389));n.completedRootSegment=r}n.pendingRootTasks--,n.pendingRootTasks===
0&&Yi(n)}else if(e.pendingTasks--,e.status!==4)if(e.pendingTasks===0){if(e.status===0&&(e.status=1),r!==null&&r.parentFlushed&&
(r.status===1||r.status===3)&&_t(e,r),e.parentFlushed&&n.completedBoundaries.push(e),e.status===1)t=e.row,t!==null&&je(t.
hoistables,e.contentState),$e(n,e)||(n.allPendingTasks++,e.fallbackAbortableTasks.forEach(wc,n),e.fallbackAbortableTasks.
clear(),t!==null&&--t.pendingTasks===0&&ln(n,t),n.allPendingTasks--),n.pendingRootTasks===0&&n.trackedPostpones===null&&
e.preamble!==null&&Mt(n);else if(e.status===5&&(e=e.row,e!==null)){if(n.trackedPostpones!==null){t=n.trackedPostpones;var i=e.
next;if(i!==null&&(r=i.boundaries,r!==null))for(i.boundaries=null,i=0;i<r.length;i++){var l=r[i];za(n,t,l),Se(n,l,null,null)}}
n.allPendingTasks++,--e.pendingTasks===0&&ln(n,e),n.allPendingTasks--}}else r===null||!r.parentFlushed||r.status!==1&&r.
status!==3||(_t(e,r),e.completedSegments.length===1&&e.parentFlushed&&n.partialBoundaries.push(e)),e=e.row,e!==null&&e.together&&
mi(n,e);n.allPendingTasks===0&&Pr(n)}function Ya(n){if(!(n.aborted||11<n.status)){var e=Re,t=Qe.H;Qe.H=na;var r=Qe.A;Qe.
A=yc;var i=$;$=n;var l=sr;sr=n.resumableState;try{var a=n.pingedTasks,u;for(u=0;u<a.length;u++){var o=a[u],c=n,f=o.blockedSegment;
if(f===null){n:if(o.replay.pendingTasks!==0){var s=c.currentTask;c.currentTask=o,ee(o.context);var d=o.node;try{if(typeof o.
replay.slots=="number"?Fr(c,o,o.replay.slots,o.node,o.childIndex):Ri(c,o),o.replay.pendingTasks===1&&0<o.replay.nodes.length)
throw Error(v(488));o.replay.pendingTasks--,o.abortSet.delete(o),Se(c,o.blockedBoundary,o.row,null)}catch(U){Ct();var h=U===
fn?pr():U;if(c.aborted){U===fn&&(o.thenableState=le()),c.currentTask=s;var g=c;xr(o,g),o.abortSet.delete(o),_e(o,g,g.fatalError)}else{
if(typeof h=="object"&&h!==null){if(typeof h.then=="function"){var b=o.ping;h.then(b.resolve,b.reject),o.thenableState=U===
fn?le():null;break n}if(h.message==="Maximum call stack size exceeded"&&o.node!==d){o.thenableState=null,c.pingedTasks.push(
o);break n}}o.replay.pendingTasks--,o.abortSet.delete(o);var A=Ae(o.componentStack);g=c;var R=o.blockedBoundary,_=c.aborted?
c.fatalError:h,z=o.replay.nodes,L=o.replay.slots,T=V(g,_,A);Nt(g,R,z,L,_,T),c.pendingRootTasks--,c.pendingRootTasks===0&&
Yi(c),c.allPendingTasks--,c.allPendingTasks===0&&Pr(c)}}finally{c.currentTask=s}}}else n:if(g=f,g.status===0){var x=c.currentTask;
c.currentTask=o,ee(o.context);var M=g.children.length,vn=g.chunks.length,m=o.node;try{Ri(c,o),wt(g.chunks,c.renderState,
g.lastPushedText,g.textEmbedded),o.abortSet.delete(o),g.status=1,Se(c,o.blockedBoundary,o.row,g)}catch(U){Ct(),g.children.
length=M,g.chunks.length=vn;var H=U===fn?pr():U;if(c.aborted)U===fn&&(o.thenableState=le()),c.currentTask=x,g=c,xr(o,g),
o.abortSet.delete(o),_e(o,g,g.fatalError);else{if(typeof H=="object"&&H!==null){if(typeof H.then=="function"){g.status=0,
o.thenableState=U===fn?le():null;var D=o.ping;H.then(D.resolve,D.reject);break n}if(H.message==="Maximum call stack size\
 exceeded"&&o.node!==m){g.status=0,o.thenableState=null,c.pingedTasks.push(o);break n}}var Z=Ae(o.componentStack);o.abortSet.
delete(o),g.status=4;var O=o.blockedBoundary,sn=o.row;if(sn!==null&&--sn.pendingTasks===0&&ln(c,sn),c.allPendingTasks--,
O===null)if(Mr(H)){var Y=Ii(H);V(c,Y,Z),Ce(c,Y)}else V(c,H,Z),Ce(c,H);else{var Gn=V(c,H,Z);if(O.pendingTasks--,O.status!==
4){O.status=4,O.errorDigest=Gn,Bi(c,O);var yn=O.row;yn!==null&&(c.allPendingTasks++,--yn.pendingTasks===0&&ln(c,yn),c.allPendingTasks--),
O.parentFlushed&&c.clientRenderedBoundaries.push(O),c.pendingRootTasks===0&&c.trackedPostpones===null&&O.preamble!==null&&
Mt(c)}c.allPendingTasks===0&&Pr(c)}}}finally{c.currentTask=x}}}a.splice(0,u),n.destination!==null&&Ir(n,n.destination)}catch(U){
V(n,U,{}),Ce(n,U)}finally{sr=l,Qe.H=t,Qe.A=r,t===na&&ee(e),$=i}}}function di(n,e,t){e.preambleChildren.length&&t.push(e.
preambleChildren);for(var r=!1,i=0;i<e.children.length;i++)r=Ua(n,e.children[i],t)||r;return r}function Ua(n,e,t){var r=e.
boundary;if(r===null)return di(n,e,t);var i=r.preamble;if(i===null)return!1;switch(r.status){case 1:if(Xl(n.renderState,
i.content),n.byteSize+=r.byteSize,e=r.completedSegments[0],!e)throw Error(v(391));return di(n,e,t);case 5:if(n.trackedPostpones!==
null)return!0;case 4:if(e.status===1)return Xl(n.renderState,i.fallback),di(n,e,t);default:return!0}}function Mt(n){if(n.
completedRootSegment&&n.completedPreambleSegments===null){var e=[],t=n.byteSize,r=Ua(n,n.completedRootSegment,e),i=n.renderState.
preamble;r===!1||i.headChunks&&i.bodyChunks?n.completedPreambleSegments=e:n.byteSize=t}}function lr(n,e,t,r){switch(t.parentFlushed=
!0,t.status){case 0:t.id=n.nextSegmentId++;case 5:return r=t.id,t.lastPushedText=!1,t.textEmbedded=!1,n=n.renderState,e.
push('<template id="'),e.push(n.placeholderPrefix),n=r.toString(16),e.push(n),e.push('"></template>');case 1:t.status=2;
var i=!0,l=t.chunks,a=0;t=t.children;for(var u=0;u<t.length;u++){for(i=t[u];a<i.index;a++)e.push(l[a]);i=kt(n,e,i,r)}for(;a<
l.length-1;a++)e.push(l[a]);return a<l.length&&(i=e.push(l[a])),i;case 3:return!0;default:throw Error(v(390))}}var St=0;
function kt(n,e,t,r){var i=t.boundary;if(i===null)return lr(n,e,t,r);if(t.boundary=null,i.parentFlushed=!0,i.status===4){
var l=i.row;return l!==null&&--l.pendingTasks===0&&ln(n,l),n.renderState.generateStaticMarkup||(i=i.errorDigest,e.push("\
<!--$!-->"),e.push("<template"),i!=null&&(e.push(' data-dgst="'),i=w(i),e.push(i),e.push('"')),e.push("></template>")),lr(
n,e,t,r),n=n.renderState.generateStaticMarkup?!0:e.push("<!--/$-->"),n}if(i.status!==1)return i.status===0&&(i.rootSegmentID=
n.nextSegmentId++),0<i.completedSegments.length&&n.partialBoundaries.push(i),Zl(e,n.renderState,i.rootSegmentID),r&&je(r,
i.fallbackState),lr(n,e,t,r),e.push("<!--/$-->");if(!hr&&$e(n,i)&&(St+i.byteSize>n.progressiveChunkSize||i.defer))return i.
rootSegmentID=n.nextSegmentId++,n.completedBoundaries.push(i),Zl(e,n.renderState,i.rootSegmentID),lr(n,e,t,r),e.push("<!\
--/$-->");if(St+=i.byteSize,r&&je(r,i.contentState),t=i.row,t!==null&&$e(n,i)&&--t.pendingTasks===0&&ln(n,t),n.renderState.
generateStaticMarkup||e.push("<!--$-->"),t=i.completedSegments,t.length!==1)throw Error(v(391));return kt(n,e,t[0],r),n=
n.renderState.generateStaticMarkup?!0:e.push("<!--/$-->"),n}function gi(n,e,t,r){return Ou(e,n.renderState,t.parentFormatContext,
t.id),kt(n,e,t,r),Fu(e,t.parentFormatContext)}function ua(n,e,t){St=t.byteSize;for(var r=t.completedSegments,i=0;i<r.length;i++)
Wa(n,e,t,r[i]);r.length=0,r=t.row,r!==null&&$e(n,t)&&--r.pendingTasks===0&&ln(n,r),Sa(e,t.contentState,n.renderState),r=
n.resumableState,n=n.renderState,i=t.rootSegmentID,t=t.contentState;var l=n.stylesToHoist,a=(r.instructions&128)!==0;return n.
stylesToHoist=!1,e.push(n.startInlineScript),e.push(">"),l?((r.instructions&4)===0&&(r.instructions|=4,e.push('$RX=funct\
ion(b,c,d,e,f){var a=document.getElementById(b);a&&(b=a.previousSibling,b.data="$!",a=a.dataset,null!=c&&(a.dgst=c),d&&(\
a.msg=d),e&&(a.stck=e),f&&(a.cstck=f),b._reactRetry&&b._reactRetry())};')),(r.instructions&2)===0&&(r.instructions|=2,e.
push(`$RB=[];$RV=function(a){$RT=performance.now();for(var b=0;b<a.length;b+=2){var c=a[b],e=a[b+1];null!==e.parentNode&\
&e.parentNode.removeChild(e);var f=c.parentNode;if(f){var g=c.previousSibling,h=0;do{if(c&&8===c.nodeType){var d=c.data;\
if("/$"===d||"/&"===d)if(0===h)break;else h--;else"$"!==d&&"$?"!==d&&"$~"!==d&&"$!"!==d&&"&"!==d||h++}d=c.nextSibling;f.\
removeChild(c);c=d}while(c);for(;e.firstChild;)f.insertBefore(e.firstChild,c);g.data="$";g._reactRetry&&requestAnimation\
Frame(g._reactRetry)}}a.length=0};
$RC=function(a,b){if(b=document.getElementById(b))(a=document.getElementById(a))?(a.previousSibling.data="$~",$RB.push(a\
,b),2===$RB.length&&("number"!==typeof $RT?requestAnimationFrame($RV.bind(null,$RB)):(a=performance.now(),setTimeout($RV\
.bind(null,$RB),2300>a&&2E3<a?2300-a:$RT+300-a)))):b.parentNode.removeChild(b)};`)),a&&(r.instructions&256)===0&&(r.instructions|=
256,e.push(`$RV=function(B,g){function h(a,c){var e=a.getAttribute(c);e&&(c=a.style,l.push(a,c.viewTransitionName,c.view\
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
}catch(a){}B(g)}.bind(null,$RV);`)),(r.instructions&8)===0?(r.instructions|=8,e.push(`$RM=new Map;$RR=function(n,w,p){fu\
nction u(q){this._p=null;q()}for(var r=new Map,t=document,h,b,e=t.querySelectorAll("link[data-precedence],style[data-pre\
cedence]"),v=[],k=0;b=e[k++];)"not all"===b.getAttribute("media")?v.push(b):("LINK"===b.tagName&&$RM.set(b.getAttribute(\
"href"),b),r.set(b.dataset.precedence,h=b));e=0;b=[];var l,a;for(k=!0;;){if(k){var f=p[e++];if(!f){k=!1;e=0;continue}var\
 c=!1,m=0;var d=f[m++];if(a=$RM.get(d)){var g=a._p;c=!0}else{a=t.createElement("link");a.href=d;a.rel=
"stylesheet";for(a.dataset.precedence=l=f[m++];g=f[m++];)a.setAttribute(g,f[m++]);g=a._p=new Promise(function(q,x){a.onl\
oad=u.bind(a,q);a.onerror=u.bind(a,x)});$RM.set(d,a)}d=a.getAttribute("media");!g||d&&!matchMedia(d).matches||b.push(g);\
if(c)continue}else{a=v[e++];if(!a)break;l=a.getAttribute("data-precedence");a.removeAttribute("media")}c=r.get(l)||h;c==\
=h&&(h=a);r.set(l,a);c?c.parentNode.insertBefore(a,c.nextSibling):(c=t.head,c.insertBefore(a,c.firstChild))}if(p=documen\
t.getElementById(n))p.previousSibling.data=
"$~";Promise.all(b).then($RC.bind(null,n,w),$RX.bind(null,n,"CSS failed to load"))};$RR("`)):e.push('$RR("')):((r.instructions&
2)===0&&(r.instructions|=2,e.push(`$RB=[];$RV=function(a){$RT=performance.now();for(var b=0;b<a.length;b+=2){var c=a[b],\
e=a[b+1];null!==e.parentNode&&e.parentNode.removeChild(e);var f=c.parentNode;if(f){var g=c.previousSibling,h=0;do{if(c&&\
8===c.nodeType){var d=c.data;if("/$"===d||"/&"===d)if(0===h)break;else h--;else"$"!==d&&"$?"!==d&&"$~"!==d&&"$!"!==d&&"&\
"!==d||h++}d=c.nextSibling;f.removeChild(c);c=d}while(c);for(;e.firstChild;)f.insertBefore(e.firstChild,c);g.data="$";g.\
_reactRetry&&requestAnimationFrame(g._reactRetry)}}a.length=0};
$RC=function(a,b){if(b=document.getElementById(b))(a=document.getElementById(a))?(a.previousSibling.data="$~",$RB.push(a\
,b),2===$RB.length&&("number"!==typeof $RT?requestAnimationFrame($RV.bind(null,$RB)):(a=performance.now(),setTimeout($RV\
.bind(null,$RB),2300>a&&2E3<a?2300-a:$RT+300-a)))):b.parentNode.removeChild(b)};`)),a&&(r.instructions&256)===0&&(r.instructions|=
256,e.push(`$RV=function(B,g){function h(a,c){var e=a.getAttribute(c);e&&(c=a.style,l.push(a,c.viewTransitionName,c.view\
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
}catch(a){}B(g)}.bind(null,$RV);`)),e.push('$RC("')),r=i.toString(16),e.push(n.boundaryPrefix),e.push(r),e.push('","'),e.
push(n.segmentPrefix),e.push(r),l?(e.push('",'),Gu(e,t)):e.push('"'),t=e.push(")</script>"),_a(e,n)&&t}function Wa(n,e,t,r){
if(r.status===2)return!0;var i=t.contentState,l=r.id;if(l===-1){if((r.id=t.rootSegmentID)===-1)throw Error(v(392));return gi(
n,e,r,i)}return l===t.rootSegmentID?gi(n,e,r,i):(gi(n,e,r,i),t=n.resumableState,n=n.renderState,e.push(n.startInlineScript),
e.push(">"),(t.instructions&1)===0?(t.instructions|=1,e.push('$RS=function(a,b){a=document.getElementById(a);b=document.\
getElementById(b);for(a.parentNode.removeChild(a);a.firstChild;)b.parentNode.insertBefore(a.firstChild,b);b.parentNode.r\
emoveChild(b)};$RS("')):e.push('$RS("'),e.push(n.segmentPrefix),l=l.toString(16),e.push(l),e.push('","'),e.push(n.placeholderPrefix),
e.push(l),e=e.push('")</script>'),e)}var hr=!1;function Ir(n,e){try{if(!(0<n.pendingRootTasks)){var t,r=n.completedRootSegment;
if(r!==null){if(r.status===5)return;var i=n.completedPreambleSegments;if(i===null)return;St=n.byteSize;var l=n.resumableState,
a=n.renderState,u=a.preamble,o=u.htmlChunks,c=u.headChunks,f;if(o){for(f=0;f<o.length;f++)e.push(o[f]);if(c)for(f=0;f<c.
length;f++)e.push(c[f]);else{var s=W("head");e.push(s),e.push(">")}}else if(c)for(f=0;f<c.length;f++)e.push(c[f]);var d=a.
charsetChunks;for(f=0;f<d.length;f++)e.push(d[f]);d.length=0,a.preconnects.forEach(_n,e),a.preconnects.clear();var h=a.viewportChunks;
for(f=0;f<h.length;f++)e.push(h[f]);h.length=0,a.fontPreloads.forEach(_n,e),a.fontPreloads.clear(),a.highImagePreloads.forEach(
_n,e),a.highImagePreloads.clear(),qe=a,a.styles.forEach(Yu,e),qe=null;var g=a.importMapChunks;for(f=0;f<g.length;f++)e.push(
g[f]);g.length=0,a.bootstrapScripts.forEach(_n,e),a.scripts.forEach(_n,e),a.scripts.clear(),a.bulkPreloads.forEach(_n,e),
a.bulkPreloads.clear(),l.instructions|=32;var b=a.hoistableChunks;for(f=0;f<b.length;f++)e.push(b[f]);for(l=b.length=0;l<
i.length;l++){var A=i[l];for(a=0;a<A.length;a++)kt(n,e,A[a],null)}var R=n.renderState.preamble,_=R.headChunks;if(R.htmlChunks||
_){var z=xe("head");e.push(z)}var L=R.bodyChunks;if(L)for(i=0;i<L.length;i++)e.push(L[i]);kt(n,e,r,null),n.completedRootSegment=
null;var T=n.renderState;if(n.allPendingTasks!==0||n.clientRenderedBoundaries.length!==0||n.completedBoundaries.length!==
0||n.trackedPostpones!==null&&(n.trackedPostpones.rootNodes.length!==0||n.trackedPostpones.rootSlots!==null)){var x=n.resumableState;
if((x.instructions&64)===0){if(x.instructions|=64,e.push(T.startInlineScript),(x.instructions&32)===0){x.instructions|=32;
var M="_"+x.idPrefix+"R_";e.push(' id="');var vn=w(M);e.push(vn),e.push('"')}e.push(">"),e.push("requestAnimationFrame(f\
unction(){$RT=performance.now()});"),e.push("</script>")}}_a(e,T)}var m=n.renderState;r=0;var H=m.viewportChunks;for(r=0;r<
H.length;r++)e.push(H[r]);H.length=0,m.preconnects.forEach(_n,e),m.preconnects.clear(),m.fontPreloads.forEach(_n,e),m.fontPreloads.
clear(),m.highImagePreloads.forEach(_n,e),m.highImagePreloads.clear(),m.styles.forEach(Wu,e),m.scripts.forEach(_n,e),m.scripts.
clear(),m.bulkPreloads.forEach(_n,e),m.bulkPreloads.clear();var D=m.hoistableChunks;for(r=0;r<D.length;r++)e.push(D[r]);
D.length=0;var Z=n.clientRenderedBoundaries;for(t=0;t<Z.length;t++){var O=Z[t];m=e;var sn=n.resumableState,Y=n.renderState,
Gn=O.rootSegmentID,yn=O.errorDigest;m.push(Y.startInlineScript),m.push(">"),(sn.instructions&4)===0?(sn.instructions|=4,
m.push('$RX=function(b,c,d,e,f){var a=document.getElementById(b);a&&(b=a.previousSibling,b.data="$!",a=a.dataset,null!=c\
&&(a.dgst=c),d&&(a.msg=d),e&&(a.stck=e),f&&(a.cstck=f),b._reactRetry&&b._reactRetry())};;$RX("')):m.push('$RX("'),m.push(
Y.boundaryPrefix);var U=Gn.toString(16);if(m.push(U),m.push('"'),yn!=null)if(m.push(","),yn==null)m.push("null");else{var ue=Lu(
yn);m.push(ue)}var J=m.push(")</script>");if(!J){n.destination=null,t++,Z.splice(0,t);return}}Z.splice(0,t);var kn=n.completedBoundaries;
for(t=0;t<kn.length;t++)if(!ua(n,e,kn[t])){n.destination=null,t++,kn.splice(0,t);return}kn.splice(0,t),hr=!0;var K=n.partialBoundaries;
for(t=0;t<K.length;t++){var wn=K[t];n:{Z=n,O=e,St=wn.byteSize;var Rn=wn.completedSegments;for(J=0;J<Rn.length;J++)if(!Wa(
Z,O,wn,Rn[J])){J++,Rn.splice(0,J);var Nn=!1;break n}Rn.splice(0,J);var I=wn.row;I!==null&&I.together&&wn.pendingTasks===
1&&(I.pendingTasks===1?Di(Z,I,I.hoistables):I.pendingTasks--),Nn=Sa(O,wn.contentState,Z.renderState)}if(!Nn){n.destination=
null,t++,K.splice(0,t);return}}K.splice(0,t),hr=!1;var Ln=n.completedBoundaries;for(t=0;t<Ln.length;t++)if(!ua(n,e,Ln[t])){
n.destination=null,t++,Ln.splice(0,t);return}Ln.splice(0,t)}}finally{hr=!1,t=n.postponedState,t!==null&&(t.nextSegmentId=
n.nextSegmentId),n.allPendingTasks===0&&n.clientRenderedBoundaries.length===0&&n.completedBoundaries.length===0&&(n.flushScheduled=
!1,t=n.resumableState,t.hasBody&&(K=xe("body"),e.push(K)),t.hasHtml&&(t=xe("html"),e.push(t)),Ui(n),n.status=13,e.push(null),
n.destination=null)}}function ke(n){if(n.flushScheduled===!1&&n.pingedTasks.length===0&&n.destination!==null){n.flushScheduled=
!0;var e=n.destination;e?Ir(n,e):n.flushScheduled=!1}}function Ec(n,e){if(n.status===12)n.status=13,n=n.fatalError,Mr(n)&&
(n=Ii(n)),e.destroy(n);else if(n.status!==13&&n.destination===null){n.destination=e;try{Ir(n,e)}catch(t){V(n,t,{}),Ce(n,
t)}}}function mc(n,e){try{if(0<e.size){var t=n.fatalError;e.forEach(function(r){return _e(r,n,t)}),e.clear()}n.destination!==
null&&Ir(n,n.destination)}catch(r){V(n,r,{}),Ce(n,r)}}function Ui(n){n=n.renderLifetimeController,n!==null&&n.abort("The\
 render ended.")}function Rc(n,e){if(!(n.aborted||n.status!==11&&n.status!==10)){Ui(n);var t=typeof e=="object"&&e!==null&&
e.$$typeof===kr;n.aborted=!0,e=t?Ia(e):e===void 0?Error(v(432)):typeof e=="object"&&e!==null&&typeof e.then=="function"?
Error(v(530)):e,n.fatalError=e,e=n.abortableTasks,e.forEach(function(r){return xr(r,n)}),mc(n,e)}}function Cr(n,e,t){if(e===
null)t.rootNodes.push(n);else{var r=t.workingMap,i=r.get(e);i===void 0&&(i=[e[1],e[2],[],null],r.set(e,i),Cr(i,e[0],t)),
i[2].push(n)}}function xc(){}function Ga(n,e,t,r){var i=!1,l=null,a="",u=!1;if(e=Su(e?e.identifierPrefix:void 0),n=Tc(n,
e,ec(e,t),j(0,null,0,null),1/0,xc,void 0,void 0,function(){u=!0},void 0,void 0,void 0),n.flushScheduled=n.destination!==
null,Ya(n),n.status===10&&(n.status=11),n.trackedPostpones===null&&zi(n,n.pendingRootTasks===0),Rc(n,r),Ec(n,{push:function(o){
return o!==null&&(a+=o),!0},destroy:function(o){i=!0,l=o}}),i&&l!==r)throw l;if(!u)throw Error(v(426));return a}Lr.renderToStaticMarkup=
function(n,e){return Ga(n,e,!0,'The server used "renderToStaticMarkup" which does not support Suspense. If you intended \
to have the server wait for the suspended component please switch to "renderToReadableStream" which supports Suspense on\
 the server')};Lr.renderToString=function(n,e){return Ga(n,e,!1,'The server used "renderToString" which does not support\
 Suspense. If you intended for this Suspense boundary to render the fallback content on the server consider throwing an \
Error somewhere within the Suspense boundary. If you intended to have the server wait for the suspended component please\
 switch to "renderToReadableStream" which supports Suspense on the server')};Lr.version="19.3.1"});var Ja=Ee(Hr=>{"use strict";var Cc=Symbol.for("react.transitional.element"),Ac=Symbol.for("react.fragment");function Qa(n,e,t){
var r=null;if(t!==void 0&&(r=""+t),e.key!==void 0&&(r=""+e.key),"key"in e){t={};for(var i in e)i!=="key"&&(t[i]=e[i])}else
t=e;return e=t.ref,{$$typeof:Cc,type:n,key:r,ref:e!==void 0?e:null,props:t}}Hr.Fragment=Ac;Hr.jsx=Qa;Hr.jsxs=Qa});var C=Ee((Kc,Ka)=>{"use strict";Ka.exports=Ja()});var Ho=p(hn(),1),Do=p(Xa(),1);var Pc=Symbol.for("react-email.element"),an=(n,e={})=>{n[Pc]=e};var Za=["margin","marginTop","marginBottom","marginRight","marginLeft","marginInline","marginBlock","marginBlockStart","\
marginBlockEnd","marginInlineStart","marginInlineEnd"],Va=["padding","paddingTop","paddingBottom","paddingRight","paddin\
gLeft","paddingInline","paddingBlock","paddingBlockStart","paddingBlockEnd","paddingInlineStart","paddingInlineEnd"];var qa=p(hn(),1),nt=p(C(),1),Ot=qa.forwardRef(({children:n,style:e,...t},r)=>{let i={background:e?.background,backgroundColor:e?.
backgroundColor};if(e)for(let l of[...Za,...Va])i[l]=e[l]!==void 0?0:void 0;return(0,nt.jsx)("body",{...t,dir:t.dir??"lt\
r",lang:t.lang??"en",style:i,ref:r,children:(0,nt.jsx)("table",{border:0,width:"100%",cellPadding:"0",cellSpacing:"0",role:"\
presentation",align:"center",children:(0,nt.jsx)("tbody",{children:(0,nt.jsx)("tr",{children:(0,nt.jsx)("td",{dir:t.dir??
"ltr",lang:t.lang??"en",style:e,children:n})})})})})});Ot.displayName="Body";an(Ot);function Dr(n){let e=0;if(n===void 0||n==="")return;if(typeof n=="number")return n;let t=/^([\d.]+)(px|em|rem|%)$/.exec(
n);if(t&&t.length===3){let r=Number.parseFloat(t[1]);switch(t[2]){case"px":return r;case"em":case"rem":return e=r*16,e;case"\
%":return e=r/100*600,e;default:return r}}return 0}function _c(n){if(typeof n=="number")return{paddingTop:n,paddingBottom:n,
paddingLeft:n,paddingRight:n};if(typeof n=="string"){let e=n.toString().trim().split(/\s+/);if(e.length===1)return{paddingTop:e[0],
paddingBottom:e[0],paddingLeft:e[0],paddingRight:e[0]};if(e.length===2)return{paddingTop:e[0],paddingRight:e[1],paddingBottom:e[0],
paddingLeft:e[1]};if(e.length===3)return{paddingTop:e[0],paddingRight:e[1],paddingBottom:e[2],paddingLeft:e[1]};if(e.length===
4)return{paddingTop:e[0],paddingRight:e[1],paddingBottom:e[2],paddingLeft:e[3]}}return{paddingTop:void 0,paddingBottom:void 0,
paddingLeft:void 0,paddingRight:void 0}}function ja(n){let e,t,r,i;for(let[l,a]of Object.entries(n))l==="padding"?{paddingTop:e,
paddingBottom:r,paddingLeft:i,paddingRight:t}=_c(a):l==="paddingTop"?e=a:l==="paddingRight"?t=a:l==="paddingBottom"?r=a:
l==="paddingLeft"&&(i=a);return{paddingTop:Dr(e),paddingRight:Dr(t),paddingBottom:Dr(r),paddingLeft:Dr(i)}}var Wi=n=>typeof n=="number"&&!Number.isNaN(Number(n))?n*3/4:void 0;var no=p(hn(),1),et=p(C(),1),Sc=5;function $a(n){if(n===0)return[0,0];let e=0,t=()=>e>0?n/e/2:Number.POSITIVE_INFINITY;for(;t()>
Sc;)e++;return[t(),e]}var Ft=no.forwardRef(({children:n,style:e,target:t="_blank",...r},i)=>{let{paddingTop:l,paddingRight:a,
paddingBottom:u,paddingLeft:o}=ja(e??{}),c=Wi((l??0)+(u??0)),[f,s]=$a(o??0),[d,h]=$a(a??0);return(0,et.jsxs)("a",{...r,ref:i,
style:{lineHeight:"100%",textDecoration:"none",display:"inline-block",maxWidth:"100%",msoPaddingAlt:"0px",...e,paddingTop:l,
paddingRight:a,paddingBottom:u,paddingLeft:o},target:t,children:[(0,et.jsx)("span",{dangerouslySetInnerHTML:{__html:`<!-\
-[if mso]><i style="mso-font-width:${f*100}%;mso-text-raise:${c}px" hidden>${"&#8202;".repeat(s)}</i><![endif]-->`}}),(0,et.jsx)(
"span",{style:{maxWidth:"100%",display:"inline-block",lineHeight:"120%",msoPaddingAlt:"0px",msoTextRaise:Wi(u)},children:n}),
(0,et.jsx)("span",{dangerouslySetInnerHTML:{__html:`<!--[if mso]><i style="mso-font-width:${d*100}%" hidden>${"&#8202;".
repeat(h)}&#8203;</i><![endif]-->`}})]})});Ft.displayName="Button";an(Ft);var eo=p(hn(),1),It=p(C(),1),Ne=eo.forwardRef(({children:n,style:e={},tdClassName:t,...r},i)=>{let l={},a={},u=e;for(let o in u){
if(!Object.hasOwn(u,o))continue;let c=u[o];o.startsWith("padding")?l[o]=c:a[o]=c}return(0,It.jsx)("table",{align:"center",
width:"100%",...r,border:0,cellPadding:"0",cellSpacing:"0",ref:i,role:"presentation",style:{maxWidth:"37.5em",...a},children:(0,It.jsx)(
"tbody",{children:(0,It.jsx)("tr",{style:{width:"100%"},children:(0,It.jsx)("td",{className:t,style:l,children:n})})})})});
Ne.displayName="Container";an(Ne,{resolveTailwind(n,{style:e,className:t,classProperties:r}){let i=[],l=n.tdClassName?[n.
tdClassName]:[];for(let a of t?.split(" ")??[]){let u=r[a];u&&u.length>0&&u.every(o=>o.startsWith("padding"))?l.push(a):
i.push(a)}return{...n,style:e,className:i.length>0?i.join(" "):void 0,tdClassName:l.length>0?l.join(" "):void 0}}});var to=p(hn(),1),Lt=p(C(),1),Br=to.forwardRef(({children:n,...e},t)=>(0,Lt.jsxs)("head",{...e,ref:t,children:[(0,Lt.jsx)(
"meta",{content:"text/html; charset=UTF-8",httpEquiv:"Content-Type"}),(0,Lt.jsx)("meta",{name:"x-apple-disable-message-r\
eformatting"}),n]}));Br.displayName="Head";var ro=n=>{let e=[Me(n.m,["margin"]),Me(n.mx,["marginLeft","marginRight"]),Me(n.my,["marginTop","marginBottom"]),Me(n.mt,
["marginTop"]),Me(n.mr,["marginRight"]),Me(n.mb,["marginBottom"]),Me(n.ml,["marginLeft"])],t={};for(let r of e)Object.keys(
r).length>0&&Object.assign(t,r);return t},Me=(n,e)=>{let t={};if(n===void 0||Number.isNaN(Number.parseFloat(String(n))))
return t;for(let r of e)t[r]=`${n}px`;return t};var io=p(hn(),1),lo=p(C(),1),Ht=io.forwardRef(({as:n="h1",children:e,style:t,m:r,mx:i,my:l,mt:a,mr:u,mb:o,ml:c,...f},s)=>(0,lo.jsx)(
n,{...f,ref:s,style:{...ro({m:r,mx:i,my:l,mt:a,mr:u,mb:o,ml:c}),...t},children:e}));Ht.displayName="Heading";an(Ht);var ao=p(hn(),1),oo=p(C(),1),zr=ao.forwardRef(({children:n,lang:e="en",dir:t="ltr",...r},i)=>(0,oo.jsx)("html",{...r,dir:t,
lang:e,ref:i,children:n}));zr.displayName="Html";var uo=p(hn(),1),co=p(C(),1),Dt=uo.forwardRef(({alt:n,src:e,width:t,height:r,style:i,...l},a)=>(0,co.jsx)("img",{...l,alt:n??
"",height:r,ref:a,src:e,style:{display:"block",outline:"none",border:"none",textDecoration:"none",...i},width:t}));Dt.displayName=
"Img";an(Dt);var fo=p(hn(),1),ae=p(C(),1),Gi=200,Bt=fo.forwardRef(({children:n="",useTitleTag:e=!0,...t},r)=>{let i=(Array.isArray(n)?
n.join(""):n).substring(0,Gi);return(0,ae.jsxs)(ae.Fragment,{children:[e?(0,ae.jsx)("title",{children:i}):null,(0,ae.jsxs)(
"div",{style:{display:"none",overflow:"hidden",lineHeight:"1px",opacity:0,maxHeight:0,maxWidth:0},"data-skip-in-text":!0,
...t,ref:r,children:[i,so(i)]})]})});Bt.displayName="Preview";an(Bt);var kc="\xA0\u200C\u200B\u200D\uFEFF",so=n=>n.length>=
Gi?null:(0,ae.jsx)("div",{children:kc.repeat(Gi-n.length)});var ho=p(hn(),1),zt=p(C(),1),Yt=ho.forwardRef(({children:n,style:e={},tdClassName:t,...r},i)=>{let l={},a={},u=e;for(let o in u){
if(!Object.hasOwn(u,o))continue;let c=u[o];o.startsWith("padding")?l[o]=c:a[o]=c}return(0,zt.jsx)("table",{align:"center",
width:"100%",border:0,cellPadding:"0",cellSpacing:"0",role:"presentation",...r,ref:i,style:a,children:(0,zt.jsx)("tbody",
{children:(0,zt.jsx)("tr",{children:(0,zt.jsx)("td",{className:t,style:l,children:n})})})})});Yt.displayName="Section";an(
Yt,{resolveTailwind(n,{style:e,className:t,classProperties:r}){let i=[],l=n.tdClassName?[n.tdClassName]:[];for(let a of t?.
split(" ")??[]){let u=r[a];u&&u.length>0&&u.every(o=>o.startsWith("padding"))?l.push(a):i.push(a)}return{...n,style:e,className:i.
length>0?i.join(" "):void 0,tdClassName:l.length>0?l.join(" "):void 0}}});function Nc(n){if(typeof n=="number")return{marginTop:n,marginBottom:n,marginLeft:n,marginRight:n};if(typeof n=="string"){
let e=n.toString().trim().split(/\s+/);if(e.length===1)return{marginTop:e[0],marginBottom:e[0],marginLeft:e[0],marginRight:e[0]};
if(e.length===2)return{marginTop:e[0],marginRight:e[1],marginBottom:e[0],marginLeft:e[1]};if(e.length===3)return{marginTop:e[0],
marginRight:e[1],marginBottom:e[2],marginLeft:e[1]};if(e.length===4)return{marginTop:e[0],marginRight:e[1],marginBottom:e[2],
marginLeft:e[3]}}return{marginTop:void 0,marginBottom:void 0,marginLeft:void 0,marginRight:void 0}}function go(n){let e={
marginTop:void 0,marginRight:void 0,marginBottom:void 0,marginLeft:void 0};for(let[t,r]of Object.entries(n))t==="margin"?
e=Nc(r):t==="marginTop"?e.marginTop=r:t==="marginRight"?e.marginRight=r:t==="marginBottom"?e.marginBottom=r:t==="marginL\
eft"&&(e.marginLeft=r);return e}var vo=p(hn(),1),yo=p(C(),1),Un=vo.forwardRef(({style:n,...e},t)=>{let r={};n?.marginTop===void 0&&(r.marginTop="16px"),
n?.marginBottom===void 0&&(r.marginBottom="16px");let i=go({...r,...n});return(0,yo.jsx)("p",{...e,ref:t,style:{fontSize:"\
14px",lineHeight:"24px",...n,...i}})});Un.displayName="Text";an(Un);var Sn={page:"#f4f4f5",card:"#ffffff",border:"#e4e4e7",text:"#18181b",muted:"#52525b",action:"#1d4ed8",onAction:"#ffffff"},
tt={page:"#18181b",card:"#27272a",border:"#3f3f46",text:"#f4f4f5",muted:"#c4c4cc"},Wn={fontFamily:"-apple-system, BlinkM\
acSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",fontSize:"16px",lineHeight:"24px",color:Sn.text},Mc={wordBreak:"\
break-word",overflowWrap:"anywhere"},on={page:{...Wn,...Mc,margin:"0",padding:"24px 8px",backgroundColor:Sn.page},card:{
maxWidth:"560px",padding:"28px 20px",backgroundColor:Sn.card,border:`1px solid ${Sn.border}`,borderRadius:"8px"},heading:{
...Wn,margin:"0 0 20px",fontSize:"22px",lineHeight:"28px",fontWeight:600},text:{...Wn,margin:"0 0 16px"},details:{width:"\
100%",margin:"0 0 24px",borderCollapse:"collapse",tableLayout:"fixed"},label:{...Wn,width:"36%",padding:"10px 12px 10px \
0",borderTop:`1px solid ${Sn.border}`,color:Sn.muted,fontSize:"14px",fontWeight:400,textAlign:"left",verticalAlign:"top"},
value:{...Wn,fontSize:"15px",padding:"10px 0",borderTop:`1px solid ${Sn.border}`,verticalAlign:"top"},action:{...Wn,padding:"\
12px 20px",borderRadius:"6px",backgroundColor:Sn.action,color:Sn.onAction,fontWeight:600},brand:{maxWidth:"560px",padding:"\
0 4px"},logo:{margin:"0 0 16px"},name:{...Wn,margin:"0 0 16px",fontSize:"18px",fontWeight:600},footer:{...Wn,margin:"16p\
x 0 0",color:Sn.muted,fontSize:"13px",lineHeight:"20px",whiteSpace:"pre-line"},note:{...Wn,margin:"24px 0 0",color:Sn.muted,
fontSize:"14px",lineHeight:"20px"}};function bo(n){if(n===void 0)return{};let[e=0,t=0,r=0]=[1,3,5].map(a=>Oc(parseInt(n.
slice(a,a+2),16)/255)),i=.2126*e+.7152*t+.0722*r,l=1.05/(i+.05)>(i+.05)/.05;return{backgroundColor:n,color:l?"#ffffff":"\
#000000"}}function Oc(n){return n<=.04045?n/12.92:((n+.055)/1.055)**2.4}var X={page:"dark-page",card:"dark-card",text:"d\
ark-text",muted:"dark-muted",line:"dark-line"},po=`
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .${X.page}, .${X.page} > table > tbody > tr > td { background-color: ${tt.page} !important; }
  .${X.card} { background-color: ${tt.card} !important; border-color: ${tt.border} !important; }
  .${X.text} { color: ${tt.text} !important; }
  .${X.muted} { color: ${tt.muted} !important; }
  .${X.line} { border-color: ${tt.border} !important; }
}`;var E=p(C(),1);function Q({subject:n,preview:e,heading:t,displayName:r,body:i,details:l,action:a,note:u,look:o={}}){return(0,E.jsxs)(
zr,{lang:"en",children:[(0,E.jsxs)(Br,{children:[(0,E.jsx)("meta",{name:"viewport",content:"width=device-width, initial-\
scale=1"}),(0,E.jsx)("meta",{name:"color-scheme",content:"light dark"}),(0,E.jsx)("meta",{name:"supported-color-schemes",
content:"light dark"}),(0,E.jsx)("title",{children:n}),(0,E.jsx)("style",{children:po})]}),(0,E.jsxs)(Ot,{className:X.page,
style:on.page,children:[(0,E.jsx)(Bt,{useTitleTag:!1,children:e}),(0,E.jsx)(Fc,{look:o}),(0,E.jsxs)(Ne,{className:X.card,
style:on.card,children:[(0,E.jsx)(Ht,{className:X.text,style:on.heading,children:t}),(0,E.jsx)(Un,{className:X.text,style:on.
text,children:(0,E.jsx)(Lc,{name:r.trim()})}),(0,E.jsx)(Un,{className:X.text,style:on.text,children:i}),(0,E.jsx)(Hc,{details:l}),
(0,E.jsx)(Yt,{children:(0,E.jsx)(Ft,{href:To(a.url),style:{...on.action,...bo(o.accent)},children:a.label})}),(0,E.jsx)(
Un,{className:X.muted,style:on.note,children:u})]}),(0,E.jsx)(Ic,{look:o})]})]})}function Fc({look:{brand:n,logoUrl:e}}){
return!n&&!e?null:(0,E.jsx)(Ne,{style:on.brand,children:e?(0,E.jsx)(Dt,{src:To(e),alt:n??"",height:"32",style:on.logo}):
(0,E.jsx)(Un,{className:X.text,style:on.name,children:n})})}function Ic({look:{footer:n}}){return n?(0,E.jsx)(Ne,{style:on.
brand,children:(0,E.jsx)(Un,{className:X.muted,style:on.footer,children:n})}):null}function Lc({name:n}){return n===""?"\
Hello,":(0,E.jsxs)(E.Fragment,{children:["Hello ",(0,E.jsx)("bdi",{children:n}),","]})}function Hc({details:n}){return(0,E.jsx)(
"table",{width:"100%",cellPadding:"0",cellSpacing:"0",style:on.details,children:(0,E.jsx)("tbody",{children:n.map(({label:e,
value:t})=>(0,E.jsxs)("tr",{children:[(0,E.jsx)("th",{scope:"row",className:`${X.muted} ${X.line}`,style:on.label,children:e}),
(0,E.jsx)("td",{className:`${X.text} ${X.line}`,style:on.value,children:(0,E.jsx)("bdi",{children:t})})]},e))})})}function To(n){
if(!/^https?:$/.test(new URL(n).protocol))throw new Error("A mail links to http(s) addresses only");return n}var Eo=p(C(),1);function Xi({displayName:n,planName:e,amount:t,reason:r,retryUrl:i}){return{subject:`Your payment for th\
e ${e} plan failed`,preview:`${t} could not be charged. You can try again.`,heading:"Payment failed",displayName:n,body:"\
Your payment did not go through. This attempt has not changed your subscription, and you can try again.",details:[{label:"\
Plan",value:e},{label:"Amount",value:t},...r?.trim()?[{label:"Reason",value:r}]:[]],action:{label:"Try again",url:i},note:"\
If you have paid since with another attempt, there is nothing left to do."}}function wo(n){return(0,Eo.jsx)(Q,{...Xi(n)})}
wo.PreviewProps={displayName:"Asha Rao",planName:"Pro",amount:"\u20B9999.00",reason:"Your payment was declined by the ba\
nk. Try another payment method.",retryUrl:"https://app.example.com/pricing"};var Yr="You also have other access, which is not affected.";function Ur({planName:n,accessEndsOn:e}){return[{label:"Plan",
value:n},...e===null?[]:[{label:"Without a payment",value:`Access until ${e}`}]]}function Wr({manageUrl:n,pricingUrl:e}){
return n===null?{label:"See the plans",url:e}:{label:"Manage your payment",url:n}}var Ro=p(C(),1);function Zi(n){let{displayName:e,planName:t,accessEndsOn:r}=n,i=r===null?Yr:`If no payment succeeds, you\
r access ends on ${r}.`;return{subject:`Your ${t} plan could not be renewed yet`,preview:"The payment did not go through\
. It will be tried again automatically.",heading:"Your plan could not be renewed yet",displayName:e,body:`The payment fo\
r the next period of your ${t} plan did not go through. It will be tried again automatically over the next few days. Ple\
ase check that your payment method works. ${i}`,details:Ur(n),action:Wr(n),note:"If you have paid since, there is nothin\
g left to do."}}function mo(n){return(0,Ro.jsx)(Q,{...Zi(n)})}mo.PreviewProps={displayName:"Asha Rao",planName:"Pro",accessEndsOn:"\
20 November 2027",manageUrl:"https://gateway.example.com/s/29QQoUBi66xm2f",pricingUrl:"https://app.example.com/pricing"};function Gr({planName:n,amount:e,validUntil:t,nextPaymentOn:r,transactionId:i}){return[{label:"Plan",value:n},{label:"Am\
ount paid",value:e},{label:"Valid until",value:t},...r===void 0?[]:[{label:"Next payment",value:r}],{label:"Transaction \
ID",value:i}]}var Xr="Keep this e-mail for your records. If you have a question about this payment, quote the transactio\
n ID.";var Po=p(C(),1);function Vi(n){let{displayName:e,planName:t,amount:r,validUntil:i,dashboardUrl:l}=n;return{subject:`Paym\
ent received: your ${t} plan is active`,preview:`${r} paid. Your plan is valid until ${i}.`,heading:"Payment received",displayName:e,
body:"Thank you. We have received your payment, and your plan is active.",details:Gr(n),action:{label:"Open your dashboa\
rd",url:l},note:Xr}}function xo(n){return(0,Po.jsx)(Q,{...Vi(n)})}xo.PreviewProps={displayName:"Asha Rao",planName:"Pro",
amount:"\u20B9999.00",transactionId:"pay_29QQoUBi66xm2f",validUntil:"20 November 2027",dashboardUrl:"https://app.example\
.com/dashboard"};function Co({heading:n,displayName:e,body:t,details:r,action:i,note:l},{brand:a,footer:u}){let o=e.trim();return`${[...a?
[a]:[],n,o===""?"Hello,":`Hello ${o},`,t,r.map(({label:f,value:s})=>`${f}: ${s}`).join(`
`),`${i.label}: ${i.url}`,l,...u?[u]:[]].join(`

`)}
`}var _o=p(C(),1);function Qi({displayName:n,planName:e,endsOn:t,accessEndsOn:r,pricingUrl:i}){return{subject:`Your ${e} s\
ubscription is complete`,preview:`The last payment was made. The plan is paid until ${t}.`,heading:"Your subscription is\
 complete",displayName:n,body:`The last payment of your ${e} subscription was made. Nothing more will be charged for it.\
 The plan is paid until ${t}. ${Dc(t,r)} You can choose a plan again on that day or later.`,details:[{label:"Plan",value:e},
{label:"Paid until",value:t}],action:{label:"See the plans",url:i},note:"If you have bought a plan since, or do not want\
 to go on, there is nothing left to do."}}function Dc(n,e){return e===null?"After that, your other access continues.":e===
n?"After that, your access ends.":`Your access ends on ${e}.`}function Ao(n){return(0,_o.jsx)(Q,{...Qi(n)})}Ao.PreviewProps=
{displayName:"Asha Rao",planName:"Pro",endsOn:"20 November 2027",accessEndsOn:"20 November 2027",pricingUrl:"https://app\
.example.com/pricing"};var ko=p(C(),1);function Ji({displayName:n,planName:e,endsOn:t,pricingUrl:r,refunded:i}){return{subject:`Your ${e} plan \
has ended`,preview:`Your access ended on ${t}.`,heading:"Your access has ended",displayName:n,body:i===void 0?`Your acce\
ss to the ${e} plan ended on ${t}. You can come back at any time.`:`Your access to the ${e} plan ended on ${t}, because ${i}\
 was refunded.`,details:[{label:"Plan",value:e},{label:"Ended on",value:t},...i===void 0?[]:[{label:"Refunded",value:i}]],
action:{label:"See the plans",url:r},note:"If you have bought a plan since, there is nothing left to do."}}function So(n){
return(0,ko.jsx)(Q,{...Ji(n)})}So.PreviewProps={displayName:"Asha Rao",planName:"Pro",endsOn:"20 November 2027",pricingUrl:"\
https://app.example.com/pricing"};var Mo=p(C(),1);function Ki({displayName:n,planName:e,endsOn:t,pricingUrl:r,earlyRenewal:i}){let{preview:l,advice:a,action:u}=Bc[i];
return{subject:`Your ${e} plan ends on ${t}`,preview:l,heading:"Your access ends soon",displayName:n,body:`Your plan is \
valid until ${t}. After that your access ends. ${a}`,details:[{label:"Plan",value:e},{label:"Valid until",value:t}],action:{
label:u,url:r},note:"If you have bought a plan since, or do not want to go on, there is nothing left to do."}}var Bc={replace:{
preview:"You can buy it again on that day or later.",advice:"You can buy the plan again on that day or later. A purchase\
 before then starts a new period at once, and the days that are left are not added to it.",action:"See the plans"},extend:{
preview:"If you renew it before then, you lose no day.",advice:"To keep your access, renew your plan before then: the ne\
w period is added to this one, and you lose no day.",action:"Renew your plan"}};function No(n){return(0,Mo.jsx)(Q,{...Ki(
n)})}No.PreviewProps={displayName:"Asha Rao",planName:"Pro",endsOn:"20 November 2027",pricingUrl:"https://app.example.co\
m/pricing",earlyRenewal:"replace"};var Fo=p(C(),1);function qi(n){let{displayName:e,planName:t,accessEndsOn:r,manageUrl:i}=n,l=r===null?Yr:`Without a payme\
nt, your access lasts until ${r}.`,a=i===null?"To continue, choose a plan again.":"To continue, pay or change your payme\
nt method.";return{subject:`Your ${t} plan could not be renewed`,preview:"The payment did not go through. It will not be\
 tried again automatically.",heading:"Your plan could not be renewed",displayName:e,body:`The payment for the next perio\
d of your ${t} plan did not go through, and all further attempts failed. It will not be tried again automatically. ${l} ${a}`,
details:Ur(n),action:Wr(n),note:"If you have paid since, or do not want to go on, there is nothing left to do."}}function Oo(n){
return(0,Fo.jsx)(Q,{...qi(n)})}Oo.PreviewProps={displayName:"Asha Rao",planName:"Pro",accessEndsOn:"20 November 2027",manageUrl:"\
https://gateway.example.com/s/29QQoUBi66xm2f",pricingUrl:"https://app.example.com/pricing"};var Lo=p(C(),1);function ji(n){let{displayName:e,planName:t,amount:r,validUntil:i,dashboardUrl:l}=n;return{subject:`Your\
 ${t} plan has been renewed`,preview:`${r} paid. Your plan is valid until ${i}.`,heading:"Your plan has been renewed",displayName:e,
body:"Thank you. We have received your payment, and your plan has been renewed.",details:Gr(n),action:{label:"Open your \
dashboard",url:l},note:Xr}}function Io(n){return(0,Lo.jsx)(Q,{...ji(n)})}Io.PreviewProps={displayName:"Asha Rao",planName:"\
Pro",amount:"\u20B9999.00",transactionId:"pay_29QQoUBi66xm2f",validUntil:"20 November 2027",nextPaymentOn:"20 November 2\
027",dashboardUrl:"https://app.example.com/dashboard"};var ws={paymentSuccess:(n,e)=>oe(Vi(n),e),paymentFailed:(n,e)=>oe(Xi(n),e),paymentPending:(n,e)=>oe(Zi(n),e),subscriptionRenewed:(n,e)=>oe(
ji(n),e),subscriptionHalted:(n,e)=>oe(qi(n),e),subscriptionCompleted:(n,e)=>oe(Qi(n),e),subscriptionEnding:(n,e)=>oe(Ki(
n),e),subscriptionEnded:(n,e)=>oe(Ji(n),e)},zc='<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://w\
ww.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">';function oe(n,e={}){return{subject:n.subject.replace(/[\s\p{Cc}]+/gu,
" "),html:zc+(0,Do.renderToStaticMarkup)((0,Ho.createElement)(Q,{...n,look:e})),text:Co(n,e)}}export{ws as mails};
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
