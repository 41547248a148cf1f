// GENERATED from emails/ by `npm run generate`. DO NOT EDIT.
// @ts-self-types="./emails.d.ts"
var Do=Object.create;var sl=Object.defineProperty;var Bo=Object.getOwnPropertyDescriptor;var zo=Object.getOwnPropertyNames;var Yo=Object.getPrototypeOf,Uo=Object.prototype.hasOwnProperty;var Te=(n,e)=>()=>{try{return e||n((e={exports:{}}).exports,e),e.exports}catch(t){throw e=0,t}};var Wo=(n,e,t,r)=>{if(e&&typeof e=="object"||typeof e=="function")for(let i of zo(e))!Uo.call(n,i)&&i!==t&&sl(n,i,{get:()=>e[i],
enumerable:!(r=Bo(e,i))||r.enumerable});return n};var p=(n,e,t)=>(t=n!=null?Do(Yo(n)):{},Wo(e||!n||!n.__esModule?sl(t,"default",{value:n,enumerable:!0}):t,n));var ml=Te(y=>{"use strict";var ri=Symbol.for("react.transitional.element"),Go=Symbol.for("react.portal"),Xo=Symbol.for("\
react.fragment"),Zo=Symbol.for("react.strict_mode"),Vo=Symbol.for("react.profiler"),Qo=Symbol.for("react.consumer"),Jo=Symbol.
for("react.context"),Ko=Symbol.for("react.forward_ref"),qo=Symbol.for("react.suspense"),jo=Symbol.for("react.memo"),yl=Symbol.
for("react.lazy"),$o=Symbol.for("react.activity"),nu=Symbol.for("react.view_transition"),hl=Symbol.iterator;function eu(n){
return n===null||typeof n!="object"?null:(n=hl&&n[hl]||n["@@iterator"],typeof n=="function"?n:null)}var bl={isMounted:function(){
return!1},enqueueForceUpdate:function(){},enqueueReplaceState:function(){},enqueueSetState:function(){}},pl=Object.assign,
Tl={};function Ze(n,e,t){this.props=n,this.context=e,this.refs=Tl,this.updater=t||bl}Ze.prototype.isReactComponent={};Ze.
prototype.setState=function(n,e){if(typeof n!="object"&&typeof n!="function"&&n!=null)throw Error("takes an object of st\
ate variables to update or a function which returns an object of state variables.");this.updater.enqueueSetState(this,n,
e,"setState")};Ze.prototype.forceUpdate=function(n){this.updater.enqueueForceUpdate(this,n,"forceUpdate")};function wl(){}
wl.prototype=Ze.prototype;function ii(n,e,t){this.props=n,this.context=e,this.refs=Tl,this.updater=t||bl}var li=ii.prototype=
new wl;li.constructor=ii;pl(li,Ze.prototype);li.isPureReactComponent=!0;var dl=Array.isArray;function ti(){}var k={H:null,
A:null,T:null,S:null},El=Object.prototype.hasOwnProperty;function ai(n,e,t){var r=t.ref;return{$$typeof:ri,type:n,key:e,
ref:r!==void 0?r:null,props:t}}function tu(n,e){return ai(n.type,e,n.props)}function oi(n){return typeof n=="object"&&n!==
null&&n.$$typeof===ri}function ru(n){var e={"=":"=0",":":"=2"};return"$"+n.replace(/[=:]/g,function(t){return e[t]})}var gl=/\/+/g;
function ei(n,e){return typeof n=="object"&&n!==null&&n.key!=null?ru(""+n.key):e.toString(36)}function iu(n){switch(n.status){case"\
fulfilled":return n.value;case"rejected":throw n.reason;default:switch(typeof n.status=="string"?n.then(ti,ti):(n.status=
"pending",n.then(function(e){n.status==="pending"&&(n.status="fulfilled",n.value=e)},function(e){n.status==="pending"&&(n.
status="rejected",n.reason=e)})),n.status){case"fulfilled":return n.value;case"rejected":throw n.reason}}throw n}function Xe(n,e,t,r,i){
var l=typeof n;(l==="undefined"||l==="boolean")&&(n=null);var a=!1;if(n===null)a=!0;else switch(l){case"bigint":case"str\
ing":case"number":a=!0;break;case"object":switch(n.$$typeof){case ri:case Go:a=!0;break;case yl:return a=n._init,Xe(a(n.
_payload),e,t,r,i)}}if(a)return i=i(n),a=r===""?"."+ei(n,0):r,dl(i)?(t="",a!=null&&(t=a.replace(gl,"$&/")+"/"),Xe(i,e,t,
"",function(c){return c})):i!=null&&(oi(i)&&(i=tu(i,t+(i.key==null||n&&n.key===i.key?"":(""+i.key).replace(gl,"$&/")+"/")+
a)),e.push(i)),1;a=0;var u=r===""?".":r+":";if(dl(n))for(var o=0;o<n.length;o++)r=n[o],l=u+ei(r,o),a+=Xe(r,e,t,l,i);else if(o=
eu(n),typeof o=="function")for(n=o.call(n),o=0;!(r=n.next()).done;)r=r.value,l=u+ei(r,o++),a+=Xe(r,e,t,l,i);else if(l===
"object"){if(typeof n.then=="function")return Xe(iu(n),e,t,r,i);throw e=String(n),Error("Objects are not valid as a Reac\
t child (found: "+(e==="[object Object]"?"object with keys {"+Object.keys(n).join(", ")+"}":e)+"). If you meant to rende\
r a collection of children, use an array instead.")}return a}function nr(n,e,t){if(n==null)return n;var r=[],i=0;return Xe(
n,r,"","",function(l){return e.call(t,l,i++)}),r}function lu(n){if(n._status===-1){var e=n._result,t=e();t.then(function(r){
(n._status===0||n._status===-1)&&(n._status=1,n._result=r,t.status===void 0&&(t.status="fulfilled",t.value=r))},function(r){
(n._status===0||n._status===-1)&&(n._status=2,n._result=r,t.status===void 0&&(t.status="rejected",t.reason=r))}),n._status===
-1&&(n._status=0,n._result=t)}if(n._status===1)return n._result.default;throw n._result}var vl=typeof reportError=="func\
tion"?reportError:function(n){if(typeof window=="object"&&typeof window.ErrorEvent=="function"){var e=new window.ErrorEvent(
"error",{bubbles:!0,cancelable:!0,message:typeof n=="object"&&n!==null&&typeof n.message=="string"?String(n.message):String(
n),error:n});if(!window.dispatchEvent(e))return}else if(typeof process=="object"&&typeof process.emit=="function"){process.
emit("uncaughtException",n);return}console.error(n)};function Rl(n){var e=k.T,t={};t.types=e!==null?e.types:null,k.T=t;try{
var r=n(),i=k.S;i!==null&&i(t,r),typeof r=="object"&&r!==null&&typeof r.then=="function"&&r.then(ti,vl)}catch(l){vl(l)}finally{
e!==null&&t.types!==null&&(e.types=t.types),k.T=e}}function Pl(n){var e=k.T;if(e!==null){var t=e.types;t===null?e.types=
[n]:t.indexOf(n)===-1&&t.push(n)}else Rl(Pl.bind(null,n))}var au={map:nr,forEach:function(n,e,t){nr(n,function(){e.apply(
this,arguments)},t)},count:function(n){var e=0;return nr(n,function(){e++}),e},toArray:function(n){return nr(n,function(e){
return e})||[]},only:function(n){if(!oi(n))throw Error("React.Children.only expected to receive a single React element c\
hild.");return n}};y.Activity=$o;y.Children=au;y.Component=Ze;y.Fragment=Xo;y.Profiler=Vo;y.PureComponent=ii;y.StrictMode=
Zo;y.Suspense=qo;y.ViewTransition=nu;y.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE=k;y.__COMPILER_RUNTIME=
{__proto__:null,c:function(n){return k.H.useMemoCache(n)}};y.addTransitionType=Pl;y.cache=function(n){return function(){
return n.apply(null,arguments)}};y.cacheSignal=function(){return null};y.cloneElement=function(n,e,t){if(n==null)throw Error(
"The argument must be a React element, but you passed "+n+".");var r=pl({},n.props),i=n.key;if(e!=null)for(l in e.key!==
void 0&&(i=""+e.key),e)!El.call(e,l)||l==="key"||l==="__self"||l==="__source"||l==="ref"&&e.ref===void 0||(r[l]=e[l]);var l=arguments.
length-2;if(l===1)r.children=t;else if(1<l){for(var a=Array(l),u=0;u<l;u++)a[u]=arguments[u+2];r.children=a}return ai(n.
type,i,r)};y.createContext=function(n){return n={$$typeof:Jo,_currentValue:n,_currentValue2:n,_threadCount:0,Provider:null,
Consumer:null},n.Provider=n,n.Consumer={$$typeof:Qo,_context:n},n};y.createElement=function(n,e,t){var r,i={},l=null;if(e!=
null)for(r in e.key!==void 0&&(l=""+e.key),e)El.call(e,r)&&r!=="key"&&r!=="__self"&&r!=="__source"&&(i[r]=e[r]);var a=arguments.
length-2;if(a===1)i.children=t;else if(1<a){for(var u=Array(a),o=0;o<a;o++)u[o]=arguments[o+2];i.children=u}if(n&&n.defaultProps)
for(r in a=n.defaultProps,a)i[r]===void 0&&(i[r]=a[r]);return ai(n,l,i)};y.createRef=function(){return{current:null}};y.
forwardRef=function(n){return{$$typeof:Ko,render:n}};y.isValidElement=oi;y.lazy=function(n){return{$$typeof:yl,_payload:{
_status:-1,_result:n},_init:lu}};y.memo=function(n,e){return{$$typeof:jo,type:n,compare:e===void 0?null:e}};y.startTransition=
Rl;y.unstable_useCacheRefresh=function(){return k.H.useCacheRefresh()};y.use=function(n){return k.H.use(n)};y.useActionState=
function(n,e,t){return k.H.useActionState(n,e,t)};y.useCallback=function(n,e){return k.H.useCallback(n,e)};y.useContext=
function(n){return k.H.useContext(n)};y.useDebugValue=function(){};y.useDeferredValue=function(n,e){return k.H.useDeferredValue(
n,e)};y.useEffect=function(n,e){return k.H.useEffect(n,e)};y.useEffectEvent=function(n){return k.H.useEffectEvent(n)};y.
useId=function(){return k.H.useId()};y.useImperativeHandle=function(n,e,t){return k.H.useImperativeHandle(n,e,t)};y.useInsertionEffect=
function(n,e){return k.H.useInsertionEffect(n,e)};y.useLayoutEffect=function(n,e){return k.H.useLayoutEffect(n,e)};y.useMemo=
function(n,e){return k.H.useMemo(n,e)};y.useOptimistic=function(n,e){return k.H.useOptimistic(n,e)};y.useReducer=function(n,e,t){
return k.H.useReducer(n,e,t)};y.useRef=function(n){return k.H.useRef(n)};y.useState=function(n){return k.H.useState(n)};
y.useSyncExternalStore=function(n,e,t){return k.H.useSyncExternalStore(n,e,t)};y.useTransition=function(){return k.H.useTransition()};
y.version="19.3.1"});var vn=Te((Lc,xl)=>{"use strict";xl.exports=ml()});var _l=Te(tn=>{"use strict";var ou=vn();function Al(n){var e="https://react.dev/errors/"+n;if(1<arguments.length){e+="?a\
rgs[]="+encodeURIComponent(arguments[1]);for(var t=2;t<arguments.length;t++)e+="&args[]="+encodeURIComponent(arguments[t])}
return"Minified React error #"+n+"; visit "+e+" for the full message or use the non-minified dev environment for full er\
rors and additional helpful warnings."}function jn(){}var on={d:{f:jn,r:function(){throw Error(Al(522))},D:jn,C:jn,L:jn,
m:jn,X:jn,S:jn,M:jn},p:0,findDOMNode:null},uu=Symbol.for("react.portal"),cu=Symbol.for("react.recoverable"),Cl=Symbol.for(
"react.optimistic_key");function fu(n,e,t){var r=3<arguments.length&&arguments[3]!==void 0?arguments[3]:null;return{$$typeof:uu,
key:r==null?null:r===Cl?Cl:""+r,children:n,containerInfo:e,implementation:t}}var vt=ou.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE;
function er(n,e){if(n==="font")return"";if(typeof e=="string")return e==="use-credentials"?e:""}tn.__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE=
on;tn.browser=function(n){return{$$typeof:cu,_reason:n}};tn.createPortal=function(n,e){var t=2<arguments.length&&arguments[2]!==
void 0?arguments[2]:null;if(!e||e.nodeType!==1&&e.nodeType!==9&&e.nodeType!==11)throw Error(Al(299));return fu(n,e,null,
t)};tn.flushSync=function(n){var e=vt.T,t=on.p;try{if(vt.T=null,on.p=2,n)return n()}finally{vt.T=e,on.p=t,on.d.f()}};tn.
preconnect=function(n,e){typeof n=="string"&&(e?(e=e.crossOrigin,e=typeof e=="string"?e==="use-credentials"?e:"":void 0):
e=null,on.d.C(n,e))};tn.prefetchDNS=function(n){typeof n=="string"&&on.d.D(n)};tn.preinit=function(n,e){if(typeof n=="st\
ring"&&e&&typeof e.as=="string"){var t=e.as,r=er(t,e.crossOrigin),i=typeof e.integrity=="string"?e.integrity:void 0,l=typeof e.
fetchPriority=="string"?e.fetchPriority:void 0;t==="style"?on.d.S(n,typeof e.precedence=="string"?e.precedence:void 0,{crossOrigin:r,
integrity:i,fetchPriority:l}):t==="script"&&on.d.X(n,{crossOrigin:r,integrity:i,fetchPriority:l,nonce:typeof e.nonce=="s\
tring"?e.nonce:void 0})}};tn.preinitModule=function(n,e){if(typeof n=="string")if(typeof e=="object"&&e!==null){if(e.as==
null||e.as==="script"){var t=er(e.as,e.crossOrigin);on.d.M(n,{crossOrigin:t,integrity:typeof e.integrity=="string"?e.integrity:
void 0,nonce:typeof e.nonce=="string"?e.nonce:void 0,fetchPriority:typeof e.fetchPriority=="string"?e.fetchPriority:void 0})}}else
e==null&&on.d.M(n)};tn.preload=function(n,e){if(typeof n=="string"&&typeof e=="object"&&e!==null&&typeof e.as=="string"){
var t=e.as,r=er(t,e.crossOrigin);on.d.L(n,t,{crossOrigin:r,integrity:typeof e.integrity=="string"?e.integrity:void 0,nonce:typeof e.
nonce=="string"?e.nonce:void 0,type:typeof e.type=="string"?e.type:void 0,fetchPriority:typeof e.fetchPriority=="string"?
e.fetchPriority:void 0,referrerPolicy:typeof e.referrerPolicy=="string"?e.referrerPolicy:void 0,imageSrcSet:typeof e.imageSrcSet==
"string"?e.imageSrcSet:void 0,imageSizes:typeof e.imageSizes=="string"?e.imageSizes:void 0,media:typeof e.media=="string"?
e.media:void 0})}};tn.preloadModule=function(n,e){if(typeof n=="string")if(e){var t=er(e.as,e.crossOrigin);on.d.m(n,{as:typeof e.
as=="string"&&e.as!=="script"?e.as:void 0,crossOrigin:t,integrity:typeof e.integrity=="string"?e.integrity:void 0,nonce:typeof e.
nonce=="string"?e.nonce:void 0,fetchPriority:typeof e.fetchPriority=="string"?e.fetchPriority:void 0})}else on.d.m(n)};tn.
requestFormReset=function(n){on.d.r(n)};tn.unstable_batchedUpdates=function(n,e){return n(e)};tn.useFormState=function(n,e,t){
return vt.H.useFormState(n,e,t)};tn.useFormStatus=function(){return vt.H.useHostTransitionStatus()};tn.version="19.3.1"});var Nl=Te((Dc,kl)=>{"use strict";function Sl(){if(!(typeof __REACT_DEVTOOLS_GLOBAL_HOOK__>"u"||typeof __REACT_DEVTOOLS_GLOBAL_HOOK__.
checkDCE!="function"))try{__REACT_DEVTOOLS_GLOBAL_HOOK__.checkDCE(Sl)}catch(n){console.error(n)}}Sl(),kl.exports=_l()});var Ga=Te(Ir=>{"use strict";var ua=vn(),su=Nl();function v(n){var e="https://react.dev/errors/"+n;if(1<arguments.length){
e+="?args[]="+encodeURIComponent(arguments[1]);for(var t=2;t<arguments.length;t++)e+="&args[]="+encodeURIComponent(arguments[t])}
return"Minified React error #"+n+"; visit "+e+" for the full message or use the non-minified dev environment for full er\
rors and additional helpful warnings."}var ca=Symbol.for("react.transitional.element"),fa=Symbol.for("react.portal"),sa=Symbol.
for("react.fragment"),ha=Symbol.for("react.strict_mode"),da=Symbol.for("react.profiler"),ga=Symbol.for("react.consumer"),
Cr=Symbol.for("react.context"),mi=Symbol.for("react.forward_ref"),Ar=Symbol.for("react.suspense"),xi=Symbol.for("react.s\
uspense_list"),Ci=Symbol.for("react.memo"),_r=Symbol.for("react.lazy"),hu=Symbol.for("react.scope"),va=Symbol.for("react\
.activity"),du=Symbol.for("react.legacy_hidden"),gu=Symbol.for("react.memo_cache_sentinel"),Ai=Symbol.for("react.view_tr\
ansition"),Sr=Symbol.for("react.recoverable"),Ol=Symbol.iterator;function ya(n){return n===null||typeof n!="object"?null:
(n=Ol&&n[Ol]||n["@@iterator"],typeof n=="function"?n:null)}var vu=Symbol.for("react.optimistic_key"),hr=Array.isArray;function Ml(n,e){
var t=n.length&3,r=n.length-t,i=e;for(e=0;e<r;){var l=n.charCodeAt(e)&255|(n.charCodeAt(++e)&255)<<8|(n.charCodeAt(++e)&
255)<<16|(n.charCodeAt(++e)&255)<<24;++e,l=3432918353*(l&65535)+((3432918353*(l>>>16)&65535)<<16)&4294967295,l=l<<15|l>>>
17,l=461845907*(l&65535)+((461845907*(l>>>16)&65535)<<16)&4294967295,i^=l,i=i<<13|i>>>19,i=5*(i&65535)+((5*(i>>>16)&65535)<<
16)&4294967295,i=(i&65535)+27492+(((i>>>16)+58964&65535)<<16)}switch(l=0,t){case 3:l^=(n.charCodeAt(e+2)&255)<<16;case 2:
l^=(n.charCodeAt(e+1)&255)<<8;case 1:l^=n.charCodeAt(e)&255,l=3432918353*(l&65535)+((3432918353*(l>>>16)&65535)<<16)&4294967295,
l=l<<15|l>>>17,i^=461845907*(l&65535)+((461845907*(l>>>16)&65535)<<16)&4294967295}return i^=n.length,i^=i>>>16,i=2246822507*
(i&65535)+((2246822507*(i>>>16)&65535)<<16)&4294967295,i^=i>>>13,i=3266489909*(i&65535)+((3266489909*(i>>>16)&65535)<<16)&
4294967295,(i^i>>>16)>>>0}var sn=Object.assign,F=Object.prototype.hasOwnProperty,yu=RegExp("^[:A-Z_a-z\\u00C0-\\u00D6\\u00D\
8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\\
uFFFD][:A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\\
u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\-.0-9\\u00B7\\u0300-\\u036F\\u203F-\\u2040]*$"),Fl={},Il={};function _i(n){
return F.call(Il,n)?!0:F.call(Fl,n)?!1:yu.test(n)?Il[n]=!0:(Fl[n]=!0,!1)}var bu=new Set("animationIterationCount aspectR\
atio borderImageOutset borderImageSlice borderImageWidth boxFlex boxFlexGroup boxOrdinalGroup columnCount columns flex f\
lexGrow flexPositive flexShrink flexNegative flexOrder gridArea gridRow gridRowEnd gridRowSpan gridRowStart gridColumn g\
ridColumnEnd gridColumnSpan gridColumnStart fontWeight lineClamp lineHeight opacity order orphans scale tabSize widows z\
Index zoom fillOpacity floodOpacity stopOpacity strokeDasharray strokeDashoffset strokeMiterlimit strokeOpacity strokeWi\
dth MozAnimationIterationCount MozBoxFlex MozBoxFlexGroup MozLineClamp msAnimationIterationCount msFlex msZoom msFlexGro\
w msFlexNegative msFlexOrder msFlexPositive msFlexShrink msGridColumn msGridColumnSpan msGridRow msGridRowSpan WebkitAni\
mationIterationCount WebkitBoxFlex WebKitBoxFlexGroup WebkitBoxOrdinalGroup WebkitColumnCount WebkitColumns WebkitFlex W\
ebkitFlexGrow WebkitFlexPositive WebkitFlexShrink WebkitLineClamp".split(" ")),pu=new Map([["acceptCharset","accept-char\
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
Height","x-height"]]),Tu=/["'&<>]/;function w(n){if(typeof n=="boolean"||typeof n=="number"||typeof n=="bigint")return""+
n;n=""+n;var e=Tu.exec(n);if(e){var t="",r,i=0;for(r=e.index;r<n.length;r++){switch(n.charCodeAt(r)){case 34:e="&quot;";
break;case 38:e="&amp;";break;case 39:e="&#x27;";break;case 60:e="&lt;";break;case 62:e="&gt;";break;default:continue}i!==
r&&(t+=n.slice(i,r)),i=r+1,t+=e}n=i!==r?t+n.slice(i,r):t}return n}var wu=/([A-Z])/g,Eu=/^ms-/,Ru=/^[\u0000-\u001F ]*j[\r\n\t]*a[\r\n\t]*v[\r\n\t]*a[\r\n\t]*s[\r\n\t]*c[\r\n\t]*r[\r\n\t]*i[\r\n\t]*p[\r\n\t]*t[\r\n\t]*:/i;
function wt(n){return Ru.test(""+n)?"javascript:throw new Error('React has blocked a javascript: URL as a security preca\
ution.')":n}var Ve=ua.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE,ba=su.__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE,
Pu={pending:!1,data:null,method:null,action:null},zn=ba.d;ba.d={f:zn.f,r:zn.r,D:Yu,C:Uu,L:Wu,m:Gu,X:Zu,S:Xu,M:Vu};var En=[],
Ke=null,pa=/(<\/|<)(s)(cript)/gi;function Ta(n,e,t,r){return""+e+(t==="s"?"\\u0073":"\\u0053")+r}function mu(n,e,t,r,i){
return{idPrefix:n===void 0?"":n,nextFormID:0,streamingFormat:0,bootstrapScriptContent:t,bootstrapScripts:r,bootstrapModules:i,
instructions:0,hasBody:!1,hasHtml:!1,unknownResources:{},dnsResources:{},connectResources:{default:{},anonymous:{},credentials:{}},
imageResources:{},styleResources:{},scriptResources:{},moduleUnknownResources:{},moduleScriptResources:{}}}function q(n,e,t,r){
return{insertionMode:n,selectedValue:e,tagScope:t,viewTransition:r}}function Ll(n,e,t){var r=n.tagScope&-25;switch(e){case"\
noscript":return q(2,null,r|1,null);case"select":return q(2,t.value!=null?t.value:t.defaultValue,r,null);case"svg":return q(
4,null,r,null);case"picture":return q(2,null,r|2,null);case"math":return q(5,null,r,null);case"foreignObject":return q(2,
null,r,null);case"table":return q(6,null,r,null);case"thead":case"tbody":case"tfoot":return q(7,null,r,null);case"colgro\
up":return q(9,null,r,null);case"tr":return q(8,null,r,null);case"head":if(2>n.insertionMode)return q(3,null,r,null);break;case"\
html":if(n.insertionMode===0)return q(1,null,r,null)}return 6<=n.insertionMode||2>n.insertionMode?q(2,null,r,null):n.viewTransition!==
null||n.tagScope!==r?q(n.insertionMode,n.selectedValue,r,null):n}function wa(n){return n===null?null:{update:n.update,enter:"\
none",exit:"none",share:n.update,parentEnter:"none",parentExit:"none",name:n.autoName,autoName:n.autoName,nameIdx:0}}function gi(n,e){
return e.tagScope&32&&(n.instructions|=128),q(e.insertionMode,e.selectedValue,e.tagScope|12,wa(e.viewTransition))}function lr(n,e){
n=wa(e.viewTransition);var t=e.tagScope|16;return n!==null&&n.share!=="none"&&(t|=64),q(e.insertionMode,e.selectedValue,
t,n)}function Ea(n,e,t){return n="_"+n.idPrefix+"R_"+e,0<t&&(n+="H"+t.toString(32)),n+"_"}function yn(n,e){e=e.viewTransition,
e!==null&&(e.name!=="auto"&&(B(n,"vt-name",e.nameIdx===0?e.name:e.name+"_"+e.nameIdx),e.nameIdx++),B(n,"vt-update",e.update),
e.enter!=="none"&&B(n,"vt-enter",e.enter),e.exit!=="none"&&B(n,"vt-exit",e.exit),e.share!=="none"&&B(n,"vt-share",e.share))}
var Hl=new Map;function Ra(n,e){if(typeof e!="object")throw Error(v(62));var t=!0,r;for(r in e)if(F.call(e,r)){var i=e[r];
if(i!=null&&typeof i!="boolean"&&i!==""){if(r.indexOf("--")===0){var l=w(r);i=w((""+i).trim())}else l=Hl.get(r),l===void 0&&
(l=w(r.replace(wu,"-$1").toLowerCase().replace(Eu,"-ms-")),Hl.set(r,l)),i=typeof i=="number"?i===0||bu.has(r)?""+i:i+"px":
w((""+i).trim());t?(t=!1,n.push(' style="',l,":",i)):n.push(";",l,":",i)}}t||n.push('"')}function vi(n,e,t){t&&typeof t!=
"function"&&typeof t!="symbol"&&n.push(" ",e,'=""')}function B(n,e,t){typeof t!="function"&&typeof t!="symbol"&&typeof t!=
"boolean"&&n.push(" ",e,'="',w(t),'"')}var Pa=w("javascript:throw new Error('React form unexpectedly submitted.')");function ui(n,e){
this.push('<input type="hidden"'),ma(n),B(this,"name",e),B(this,"value",n),this.push("/>")}function ma(n){if(typeof n!="\
string")throw Error(v(480))}function xa(n,e){if(typeof e.$$FORM_ACTION=="function"){var t=n.nextFormID++;n=n.idPrefix+t;
try{var r=e.$$FORM_ACTION(n);if(r){var i=r.data;i?.forEach(ma)}return r}catch(l){if(typeof l=="object"&&l!==null&&typeof l.
then=="function")throw l}}return null}function Dl(n,e,t,r,i,l,a,u){var o=null;if(typeof r=="function"){var c=xa(e,r);c!==
null?(u=c.name,r=c.action||"",i=c.encType,l=c.method,a=c.target,o=c.data):(n.push(" ","formAction",'="',Pa,'"'),a=l=i=r=
u=null,Ca(e,t))}return u!=null&&x(n,"name",u),r!=null&&x(n,"formAction",r),i!=null&&x(n,"formEncType",i),l!=null&&x(n,"f\
ormMethod",l),a!=null&&x(n,"formTarget",a),o}function x(n,e,t){switch(e){case"className":B(n,"class",t);break;case"tabIn\
dex":B(n,"tabindex",t);break;case"dir":case"role":case"viewBox":case"width":case"height":B(n,e,t);break;case"style":Ra(n,
t);break;case"src":case"href":if(t==="")break;case"action":case"formAction":if(t==null||typeof t=="function"||typeof t==
"symbol"||typeof t=="boolean")break;t=wt(""+t),n.push(" ",e,'="',w(t),'"');break;case"defaultValue":case"defaultChecked":case"\
innerHTML":case"suppressContentEditableWarning":case"suppressHydrationWarning":case"ref":break;case"autoFocus":case"mult\
iple":case"muted":vi(n,e.toLowerCase(),t);break;case"xlinkHref":if(typeof t=="function"||typeof t=="symbol"||typeof t=="\
boolean")break;t=wt(""+t),n.push(" ","xlink:href",'="',w(t),'"');break;case"contentEditable":case"spellCheck":case"dragg\
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
O"||e[1]!=="n"&&e[1]!=="N")&&(e=pu.get(e)||e,_i(e))){switch(typeof t){case"function":case"symbol":return;case"boolean":var r=e.
toLowerCase().slice(0,5);if(r!=="data-"&&r!=="aria-")return}n.push(" ",e,'="',w(t),'"')}}}function bn(n,e,t){if(e!=null){
if(t!=null)throw Error(v(60));if(typeof e!="object"||!("__html"in e))throw Error(v(61));e=e.__html,e!=null&&n.push(""+e)}}
function xu(n){var e="";return ua.Children.forEach(n,function(t){t!=null&&(e+=t)}),e}function Ca(n,e){if((n.instructions&
16)===0){n.instructions|=16;var t=e.preamble,r=e.bootstrapChunks;(t.htmlChunks||t.headChunks)&&r.length===0?(r.push(e.startInlineScript),
ar(r,n),r.push(">",`addEventListener("submit",function(a){if(!a.defaultPrevented){var b=a.target,d=a.submitter,c=b.actio\
n,e=d;if(d){var f=d.getAttribute("formAction");null!=f&&(c=f,e=null)}"javascript:throw new Error('React form unexpectedl\
y submitted.')"===c&&(a.preventDefault(),a=new FormData(b,e),c=b.ownerDocument||b,(c.$$reactFormReplay=c.$$reactFormRepl\
ay||[]).push(b,d,a))}});`,"</script>")):r.unshift(e.startInlineScript,">",`addEventListener("submit",function(a){if(!a.d\
efaultPrevented){var b=a.target,d=a.submitter,c=b.action,e=d;if(d){var f=d.getAttribute("formAction");null!=f&&(c=f,e=nu\
ll)}"javascript:throw new Error('React form unexpectedly submitted.')"===c&&(a.preventDefault(),a=new FormData(b,e),c=b.\
ownerDocument||b,(c.$$reactFormReplay=c.$$reactFormReplay||[]).push(b,d,a))}});`,"</script>")}}function rn(n,e){n.push(W(
"link"));for(var t in e)if(F.call(e,t)){var r=e[t];if(r!=null)switch(t){case"children":case"dangerouslySetInnerHTML":throw Error(
v(399,"link"));default:x(n,t,r)}}return n.push("/>"),null}var Bl=/(<\/|<)(s)(tyle)/gi;function zl(n,e,t,r){return""+e+(t===
"s"?"\\73 ":"\\53 ")+r}function Qe(n,e,t,r){n.push(W(t));for(var i in e)if(F.call(e,i)){var l=e[i];if(l!=null)switch(i){case"\
children":case"dangerouslySetInnerHTML":throw Error(v(399,t));default:x(n,i,l)}}return yn(n,r),n.push("/>"),null}function Yl(n,e){
n.push(W("title"));var t=null,r=null,i;for(i in e)if(F.call(e,i)){var l=e[i];if(l!=null)switch(i){case"children":t=l;break;case"\
dangerouslySetInnerHTML":r=l;break;default:x(n,i,l)}}return n.push(">"),e=Array.isArray(t)?2>t.length?t[0]:null:t,typeof e!=
"function"&&typeof e!="symbol"&&e!==null&&e!==void 0&&n.push(w(""+e)),bn(n,r,t),n.push(Re("title")),null}function dr(n,e){
n.push(W("script"));var t=null,r=null,i;for(i in e)if(F.call(e,i)){var l=e[i];if(l!=null)switch(i){case"children":t=l;break;case"\
dangerouslySetInnerHTML":r=l;break;default:x(n,i,l)}}return n.push(">"),bn(n,r,t),typeof t=="string"&&n.push((""+t).replace(
pa,Ta)),n.push(Re("script")),null}function ci(n,e,t,r){n.push(W(t));var i=t=null,l;for(l in e)if(F.call(e,l)){var a=e[l];
if(a!=null)switch(l){case"children":t=a;break;case"dangerouslySetInnerHTML":i=a;break;default:x(n,l,a)}}return yn(n,r),n.
push(">"),bn(n,i,t),t}function tr(n,e,t,r){n.push(W(t));var i=t=null,l;for(l in e)if(F.call(e,l)){var a=e[l];if(a!=null)
switch(l){case"children":t=a;break;case"dangerouslySetInnerHTML":i=a;break;default:x(n,l,a)}}return yn(n,r),n.push(">"),
bn(n,i,t),typeof t=="string"?(n.push(w(t)),null):t}var Cu=/^[a-zA-Z][a-zA-Z:_\.\-\d]*$/,Ul=new Map;function W(n){var e=Ul.
get(n);if(e===void 0){if(!Cu.test(n))throw Error(v(65,n));e="<"+n,Ul.set(n,e)}return e}function Au(n,e,t,r,i,l,a,u,o){switch(e){case"\
div":case"span":case"svg":case"path":break;case"a":n.push(W("a"));var c=null,f=null,s;for(s in t)if(F.call(t,s)){var d=t[s];
if(d!=null)switch(s){case"children":c=d;break;case"dangerouslySetInnerHTML":f=d;break;case"href":d===""?B(n,"href",""):x(
n,s,d);break;default:x(n,s,d)}}if(yn(n,u),n.push(">"),bn(n,f,c),typeof c=="string"){n.push(w(c));var h=null}else h=c;return h;case"\
g":case"p":case"li":break;case"select":n.push(W("select"));var g=null,b=null,C;for(C in t)if(F.call(t,C)){var R=t[C];if(R!=
null)switch(C){case"children":g=R;break;case"dangerouslySetInnerHTML":b=R;break;case"defaultValue":case"value":break;default:
x(n,C,R)}}return yn(n,u),n.push(">"),bn(n,b,g),g;case"option":var _=u.selectedValue;n.push(W("option"));var z=null,L=null,
T=null,P=null,O;for(O in t)if(F.call(t,O)){var dn=t[O];if(dn!=null)switch(O){case"children":z=dn;break;case"selected":T=
dn;break;case"dangerouslySetInnerHTML":P=dn;break;case"value":L=dn;default:x(n,O,dn)}}if(_!=null){var E=L!==null?""+L:xu(
z);if(hr(_)){for(var H=0;H<_.length;H++)if(""+_[H]===E){n.push(' selected=""');break}}else""+_===E&&n.push(' selected=""')}else
T&&n.push(' selected=""');return n.push(">"),bn(n,P,z),z;case"textarea":n.push(W("textarea"));var D=null,X=null,M=null,cn;
for(cn in t)if(F.call(t,cn)){var Y=t[cn];if(Y!=null)switch(cn){case"children":M=Y;break;case"value":D=Y;break;case"defau\
ltValue":X=Y;break;case"dangerouslySetInnerHTML":throw Error(v(91));default:x(n,cn,Y)}}if(D===null&&X!==null&&(D=X),yn(n,
u),n.push(">"),M!=null){if(D!=null)throw Error(v(92));if(hr(M)){if(1<M.length)throw Error(v(93));D=""+M[0]}D=""+M}return typeof D==
"string"&&D[0]===`
`&&n.push(`
`),D!==null&&n.push(w(""+D)),null;case"input":n.push(W("input"));var Un=null,gn=null,U=null,ae=null,Q=null,Sn=null,J=null,
Tn=null,Rn=null,kn;for(kn in t)if(F.call(t,kn)){var I=t[kn];if(I!=null)switch(kn){case"children":case"dangerouslySetInne\
rHTML":throw Error(v(399,"input"));case"name":Un=I;break;case"formAction":gn=I;break;case"formEncType":U=I;break;case"fo\
rmMethod":ae=I;break;case"formTarget":Q=I;break;case"defaultChecked":Rn=I;break;case"defaultValue":J=I;break;case"checke\
d":Tn=I;break;case"value":Sn=I;break;default:x(n,kn,I)}}var Ln=Dl(n,r,i,gn,U,ae,Q,Un);return Tn!==null?vi(n,"checked",Tn):
Rn!==null&&vi(n,"checked",Rn),Sn!==null?x(n,"value",Sn):J!==null&&x(n,"value",J),yn(n,u),n.push("/>"),Ln?.forEach(ui,n),
null;case"button":n.push(W("button"));var oe=null,Nn=null,Wn=null,tt=null,Oe=null,Me=null,Yt=null,On;for(On in t)if(F.call(
t,On)){var nn=t[On];if(nn!=null)switch(On){case"children":oe=nn;break;case"dangerouslySetInnerHTML":Nn=nn;break;case"nam\
e":Wn=nn;break;case"formAction":tt=nn;break;case"formEncType":Oe=nn;break;case"formMethod":Me=nn;break;case"formTarget":
Yt=nn;break;default:x(n,On,nn)}}var Ut=Dl(n,r,i,tt,Oe,Me,Yt,Wn);if(yn(n,u),n.push(">"),Ut?.forEach(ui,n),bn(n,Nn,oe),typeof oe==
"string"){n.push(w(oe));var rt=null}else rt=oe;return rt;case"form":n.push(W("form"));var ue=null,Wt=null,Hn=null,Gn=null,
ce=null,Xn=null,fe;for(fe in t)if(F.call(t,fe)){var Mn=t[fe];if(Mn!=null)switch(fe){case"children":ue=Mn;break;case"dang\
erouslySetInnerHTML":Wt=Mn;break;case"action":Hn=Mn;break;case"encType":Gn=Mn;break;case"method":ce=Mn;break;case"target":
Xn=Mn;break;default:x(n,fe,Mn)}}var Fe=null,Zn=null;if(typeof Hn=="function"){var an=xa(r,Hn);an!==null?(Hn=an.action||"",
Gn=an.encType,ce=an.method,Xn=an.target,Fe=an.data,Zn=an.name):(n.push(" ","action",'="',Pa,'"'),Xn=ce=Gn=Hn=null,Ca(r,i))}
if(Hn!=null&&x(n,"action",Hn),Gn!=null&&x(n,"encType",Gn),ce!=null&&x(n,"method",ce),Xn!=null&&x(n,"target",Xn),yn(n,u),
n.push(">"),Zn!==null&&(n.push('<input type="hidden"'),B(n,"name",Zn),n.push("/>"),Fe?.forEach(ui,n)),bn(n,Wt,ue),typeof ue==
"string"){n.push(w(ue));var it=null}else it=ue;return it;case"menuitem":n.push(W("menuitem"));for(var se in t)if(F.call(
t,se)){var Gt=t[se];if(Gt!=null)switch(se){case"children":case"dangerouslySetInnerHTML":throw Error(v(400));default:x(n,
se,Gt)}}return yn(n,u),n.push(">"),null;case"object":n.push(W("object"));var Pn=null,lt=null,Vn;for(Vn in t)if(F.call(t,
Vn)){var Qn=t[Vn];if(Qn!=null)switch(Vn){case"children":Pn=Qn;break;case"dangerouslySetInnerHTML":lt=Qn;break;case"data":
var S=wt(""+Qn);if(S==="")break;n.push(" ","data",'="',w(S),'"');break;default:x(n,Vn,Qn)}}if(yn(n,u),n.push(">"),bn(n,lt,
Pn),typeof Pn=="string"){n.push(w(Pn));var mn=null}else mn=Pn;return mn;case"title":var wn=u.tagScope&1,at=u.tagScope&4;
if(u.insertionMode===4||wn||t.itemProp!=null)var Ie=Yl(n,t);else at?Ie=null:(Yl(i.hoistableChunks,t),Ie=void 0);return Ie;case"\
link":var Le=u.tagScope&1,Xt=u.tagScope&4,Zt=t.rel,xn=t.href,He=t.precedence;if(u.insertionMode===4||Le||t.itemProp!=null||
typeof Zt!="string"||typeof xn!="string"||xn===""){rn(n,t);var he=null}else if(t.rel==="stylesheet")if(typeof He!="strin\
g"||t.disabled!=null||t.onLoad||t.onError)he=rn(n,t);else{var Dn=i.styles.get(He),Jn=r.styleResources.hasOwnProperty(xn)?
r.styleResources[xn]:void 0;if(Jn!==null){r.styleResources[xn]=null,Dn||(Dn={precedence:w(He),rules:[],hrefs:[],sheets:new Map},
i.styles.set(He,Dn));var Kn={state:0,props:sn({},t,{"data-precedence":t.precedence,precedence:null})};if(Jn){Jn.length===
2&&Et(Kn.props,Jn);var ot=i.preloads.stylesheets.get(xn);ot&&0<ot.length?ot.length=0:Kn.state=1}Dn.sheets.set(xn,Kn),a&&
a.stylesheets.add(Kn)}else if(Dn){var Vt=Dn.sheets.get(xn);Vt&&a&&a.stylesheets.add(Vt)}o&&n.push("<!-- -->"),he=null}else
t.onLoad||t.onError?he=rn(n,t):(o&&n.push("<!-- -->"),he=Xt?null:rn(i.hoistableChunks,t));return he;case"script":var Xr=u.
tagScope&1,De=t.async;if(typeof t.src!="string"||!t.src||!De||typeof De=="function"||typeof De=="symbol"||t.onLoad||t.onError||
u.insertionMode===4||Xr||t.itemProp!=null)var Qt=dr(n,t);else{var qn=t.src;if(t.type==="module")var de=r.moduleScriptResources,
ge=i.preloads.moduleScripts;else de=r.scriptResources,ge=i.preloads.scripts;var Be=de.hasOwnProperty(qn)?de[qn]:void 0;if(Be!==
null){de[qn]=null;var ut=t;if(Be){Be.length===2&&(ut=sn({},t),Et(ut,Be));var Jt=ge.get(qn);Jt&&(Jt.length=0)}var Kt=[];i.
scripts.add(Kt),dr(Kt,ut)}o&&n.push("<!-- -->"),Qt=null}return Qt;case"style":var Zr=u.tagScope&1,ze=t.precedence,Fn=t.href,
Fo=t.nonce;if(u.insertionMode===4||Zr||t.itemProp!=null||typeof ze!="string"||typeof Fn!="string"||Fn===""){n.push(W("st\
yle"));var Ye=null,ji=null,ct;for(ct in t)if(F.call(t,ct)){var qt=t[ct];if(qt!=null)switch(ct){case"children":Ye=qt;break;case"\
dangerouslySetInnerHTML":ji=qt;break;default:x(n,ct,qt)}}n.push(">");var ft=Array.isArray(Ye)?2>Ye.length?Ye[0]:null:Ye;
typeof ft!="function"&&typeof ft!="symbol"&&ft!==null&&ft!==void 0&&n.push((""+ft).replace(Bl,zl)),bn(n,ji,Ye),n.push(Re(
"style"));var $i=null}else{var ve=i.styles.get(ze);if((r.styleResources.hasOwnProperty(Fn)?r.styleResources[Fn]:void 0)!==
null){r.styleResources[Fn]=null,ve||(ve={precedence:w(ze),rules:[],hrefs:[],sheets:new Map},i.styles.set(ze,ve));var nl=i.
nonce.style;if(!nl||nl===Fo){ve.hrefs.push(w(Fn));var el=ve.rules,Ue=null,tl=null,jt;for(jt in t)if(F.call(t,jt)){var Vr=t[jt];
if(Vr!=null)switch(jt){case"children":Ue=Vr;break;case"dangerouslySetInnerHTML":tl=Vr}}var st=Array.isArray(Ue)?2>Ue.length?
Ue[0]:null:Ue;typeof st!="function"&&typeof st!="symbol"&&st!==null&&st!==void 0&&el.push((""+st).replace(Bl,zl)),bn(el,
tl,Ue)}}ve&&a&&a.styles.add(ve),o&&n.push("<!-- -->"),$i=void 0}return $i;case"meta":var Io=u.tagScope&1,Lo=u.tagScope&4;
if(u.insertionMode===4||Io||t.itemProp!=null)var rl=Qe(n,t,"meta",u);else o&&n.push("<!-- -->"),rl=Lo?null:typeof t.charSet==
"string"?Qe(i.charsetChunks,t,"meta",u):t.name==="viewport"?Qe(i.viewportChunks,t,"meta",u):Qe(i.hoistableChunks,t,"meta",
u);return rl;case"listing":case"pre":n.push(W(e));var ht=null,dt=null,gt;for(gt in t)if(F.call(t,gt)){var $t=t[gt];if($t!=
null)switch(gt){case"children":ht=$t;break;case"dangerouslySetInnerHTML":dt=$t;break;default:x(n,gt,$t)}}if(yn(n,u),n.push(
">"),dt!=null){if(ht!=null)throw Error(v(60));if(typeof dt!="object"||!("__html"in dt))throw Error(v(61));var ye=dt.__html;
ye!=null&&(typeof ye=="string"&&0<ye.length&&ye[0]===`
`?n.push(`
`,ye):n.push(""+ye))}return typeof ht=="string"&&ht[0]===`
`&&n.push(`
`),ht;case"img":var Ho=u.tagScope&3,en=t.src,K=t.srcSet;if(!(t.loading==="lazy"||!en&&!K||typeof en!="string"&&en!=null||
typeof K!="string"&&K!=null||t.fetchPriority==="low"||Ho)&&(typeof en!="string"||en[4]!==":"||en[0]!=="d"&&en[0]!=="D"||
en[1]!=="a"&&en[1]!=="A"||en[2]!=="t"&&en[2]!=="T"||en[3]!=="a"&&en[3]!=="A")&&(typeof K!="string"||K[4]!==":"||K[0]!=="\
d"&&K[0]!=="D"||K[1]!=="a"&&K[1]!=="A"||K[2]!=="t"&&K[2]!=="T"||K[3]!=="a"&&K[3]!=="A")){a!==null&&u.tagScope&64&&(a.suspenseyImages=
!0);var il=typeof t.sizes=="string"?t.sizes:void 0,We=K?K+`
`+(il||""):en,Qr=i.preloads.images,be=Qr.get(We);if(be)(t.fetchPriority==="high"||10>i.highImagePreloads.size)&&(Qr.delete(
We),i.highImagePreloads.add(be));else if(!r.imageResources.hasOwnProperty(We)){r.imageResources[We]=En;var Jr=t.crossOrigin,
ll=typeof Jr=="string"?Jr==="use-credentials"?Jr:"":void 0,pe=i.headers,Kr;pe&&0<pe.remainingCapacity&&typeof t.srcSet!=
"string"&&(t.fetchPriority==="high"||500>pe.highImagePreloads.length)&&(Kr=vr(en,"image",{imageSrcSet:t.srcSet,imageSizes:t.
sizes,crossOrigin:ll,integrity:t.integrity,nonce:t.nonce,type:t.type,fetchPriority:t.fetchPriority,referrerPolicy:t.referrerPolicy}),
0<=(pe.remainingCapacity-=Kr.length+2))?(i.resets.image[We]=En,pe.highImagePreloads&&(pe.highImagePreloads+=", "),pe.highImagePreloads+=
Kr):(be=[],rn(be,{rel:"preload",as:"image",href:K?void 0:en,imageSrcSet:K,imageSizes:il,crossOrigin:ll,integrity:t.integrity,
type:t.type,fetchPriority:t.fetchPriority,referrerPolicy:t.referrerPolicy}),t.fetchPriority==="high"||10>i.highImagePreloads.
size?i.highImagePreloads.add(be):(i.bulkPreloads.add(be),Qr.set(We,be)))}}return Qe(n,t,"img",u);case"base":case"area":case"\
br":case"col":case"embed":case"hr":case"keygen":case"param":case"source":case"track":case"wbr":return Qe(n,t,e,u);case"a\
nnotation-xml":case"color-profile":case"font-face":case"font-face-src":case"font-face-uri":case"font-face-format":case"f\
ont-face-name":case"missing-glyph":break;case"head":if(2>u.insertionMode){var qr=l||i.preamble;if(qr.headChunks)throw Error(
v(545,"`<head>`"));l!==null&&n.push("<!--head-->"),qr.headChunks=[];var al=ci(qr.headChunks,t,"head",u)}else al=tr(n,t,"\
head",u);return al;case"body":if(2>u.insertionMode){var jr=l||i.preamble;if(jr.bodyChunks)throw Error(v(545,"`<body>`"));
l!==null&&n.push("<!--body-->"),jr.bodyChunks=[];var ol=ci(jr.bodyChunks,t,"body",u)}else ol=tr(n,t,"body",u);return ol;case"\
html":if(u.insertionMode===0){var $r=l||i.preamble;if($r.htmlChunks)throw Error(v(545,"`<html>`"));l!==null&&n.push("<!-\
-html-->"),$r.htmlChunks=[""];var ul=ci($r.htmlChunks,t,"html",u)}else ul=tr(n,t,"html",u);return ul;default:if(e.indexOf(
"-")!==-1){n.push(W(e));var ni=null,cl=null,Ge;for(Ge in t)if(F.call(t,Ge)){var Cn=t[Ge];if(Cn!=null){var fl=Ge;switch(Ge){case"\
children":ni=Cn;break;case"dangerouslySetInnerHTML":cl=Cn;break;case"style":Ra(n,Cn);break;case"suppressContentEditableW\
arning":case"suppressHydrationWarning":case"ref":break;case"className":fl="class";default:if(_i(Ge)&&typeof Cn!="functio\
n"&&typeof Cn!="symbol"&&Cn!==!1){if(Cn===!0)Cn="";else if(typeof Cn=="object")continue;n.push(" ",fl,'="',w(Cn),'"')}}}}
return yn(n,u),n.push(">"),bn(n,cl,ni),ni}}return tr(n,t,e,u)}var Wl=new Map;function Re(n){var e=Wl.get(n);return e===void 0&&
(e="</"+n+">",Wl.set(n,e)),e}function Gl(n,e){n=n.preamble,n.htmlChunks===null&&e.htmlChunks&&(n.htmlChunks=e.htmlChunks),
n.headChunks===null&&e.headChunks&&(n.headChunks=e.headChunks),n.bodyChunks===null&&e.bodyChunks&&(n.bodyChunks=e.bodyChunks)}
function Aa(n,e){e=e.bootstrapChunks;for(var t=0;t<e.length-1;t++)n.push(e[t]);return t<e.length?(t=e[t],e.length=0,n.push(
t)):!0}function Xl(n,e,t){if(n.push('<!--$?--><template id="'),t===null)throw Error(v(395));return n.push(e.boundaryPrefix),
e=t.toString(16),n.push(e),n.push('"></template>')}function _u(n,e,t,r){switch(t.insertionMode){case 0:case 1:case 3:case 2:
return n.push('<div hidden id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 4:return n.push('\
<svg aria-hidden="true" style="display:none" id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 5:
return n.push('<math aria-hidden="true" style="display:none" id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.
push('">');case 6:return n.push('<table hidden id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 7:
return n.push('<table hidden><tbody id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 8:return n.
push('<table hidden><tr id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 9:return n.push('<ta\
ble hidden><colgroup id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');default:throw Error(v(397))}}
function Su(n,e){switch(e.insertionMode){case 0:case 1:case 3:case 2:return n.push("</div>");case 4:return n.push("</svg\
>");case 5:return n.push("</math>");case 6:return n.push("</table>");case 7:return n.push("</tbody></table>");case 8:return n.
push("</tr></table>");case 9:return n.push("</colgroup></table>");default:throw Error(v(397))}}var ku=/[<\u2028\u2029]/g;
function Nu(n){return JSON.stringify(n).replace(ku,function(e){switch(e){case"<":return"\\u003c";case"\u2028":return"\\u2\
028";case"\u2029":return"\\u2029";default:throw Error("escapeJSStringsForInstructionScripts encountered a match it does \
not know how to replace. this means the match regex and the replacement characters are no longer in sync. This is a bug \
in React")}})}var Ou=/[&><\u2028\u2029]/g;function pt(n){return JSON.stringify(n).replace(Ou,function(e){switch(e){case"\
&":return"\\u0026";case">":return"\\u003e";case"<":return"\\u003c";case"\u2028":return"\\u2028";case"\u2029":return"\\u20\
29";default:throw Error("escapeJSObjectForInstructionScripts encountered a match it does not know how to replace. this m\
eans the match regex and the replacement characters are no longer in sync. This is a bug in React")}})}var gr=!1,yi=!0;function Mu(n){
var e=n.rules,t=n.hrefs,r=0;if(t.length){for(this.push(Ke.startInlineStyle),this.push(' media="not all" data-precedence=\
"'),this.push(n.precedence),this.push('" data-href="');r<t.length-1;r++)this.push(t[r]),this.push(" ");for(this.push(t[r]),
this.push('">'),r=0;r<e.length;r++)this.push(e[r]);yi=this.push("</style>"),gr=!0,e.length=0,t.length=0}}function Fu(n){
return n.state!==2?gr=!0:!1}function _a(n,e,t){return gr=!1,yi=!0,Ke=t,e.styles.forEach(Mu,n),Ke=null,e.stylesheets.forEach(
Fu),gr&&(t.stylesToHoist=!0),yi}function An(n){for(var e=0;e<n.length;e++)this.push(n[e]);n.length=0}var ne=[];function Iu(n){
rn(ne,n.props);for(var e=0;e<ne.length;e++)this.push(ne[e]);ne.length=0,n.state=2}function Lu(n){var e=0<n.sheets.size;n.
sheets.forEach(Iu,this),n.sheets.clear();var t=n.rules,r=n.hrefs;if(!e||r.length){if(this.push(Ke.startInlineStyle),this.
push(' data-precedence="'),this.push(n.precedence),n=0,r.length){for(this.push('" data-href="');n<r.length-1;n++)this.push(
r[n]),this.push(" ");this.push(r[n])}for(this.push('">'),n=0;n<t.length;n++)this.push(t[n]);this.push("</style>"),t.length=
0,r.length=0}}function Hu(n){if(n.state===0){n.state=1;var e=n.props;for(rn(ne,{rel:"preload",as:"style",href:n.props.href,
crossOrigin:e.crossOrigin,fetchPriority:e.fetchPriority,integrity:e.integrity,media:e.media,hrefLang:e.hrefLang,referrerPolicy:e.
referrerPolicy}),n=0;n<ne.length;n++)this.push(ne[n]);ne.length=0}}function Du(n){n.sheets.forEach(Hu,this),n.sheets.clear()}
function ar(n,e){(e.instructions&32)===0&&(e.instructions|=32,n.push(' id="',w("_"+e.idPrefix+"R_"),'"'))}function Bu(n,e){
n.push("[");var t="[";e.stylesheets.forEach(function(r){if(r.state!==2)if(r.state===3)n.push(t),r=pt(""+r.props.href),n.
push(r),n.push("]"),t=",[";else{n.push(t);var i=r.props["data-precedence"],l=r.props,a=wt(""+r.props.href);a=pt(a),n.push(
a),i=""+i,n.push(","),i=pt(i),n.push(i);for(var u in l)if(F.call(l,u)&&(i=l[u],i!=null))switch(u){case"href":case"rel":case"\
precedence":case"data-precedence":break;case"children":case"dangerouslySetInnerHTML":throw Error(v(399,"link"));default:
zu(n,u,i)}n.push("]"),t=",[",r.state=3}}),n.push("]")}function zu(n,e,t){var r=e.toLowerCase();switch(typeof t){case"fun\
ction":case"symbol":return}switch(e){case"innerHTML":case"dangerouslySetInnerHTML":case"suppressContentEditableWarning":case"\
suppressHydrationWarning":case"style":case"ref":return;case"className":r="class",e=""+t;break;case"hidden":if(t===!1)return;
e="";break;case"src":case"href":t=wt(t),e=""+t;break;default:if(2<e.length&&(e[0]==="o"||e[0]==="O")&&(e[1]==="n"||e[1]===
"N")||!_i(e))return;e=""+t}n.push(","),r=pt(r),n.push(r),n.push(","),r=pt(e),n.push(r)}function bi(){return{styles:new Set,
stylesheets:new Set,suspenseyImages:!1}}function Yu(n){var e=j||null;if(e){var t=e.resumableState,r=e.renderState;if(typeof n==
"string"&&n){if(!t.dnsResources.hasOwnProperty(n)){t.dnsResources[n]=null,t=r.headers;var i,l;(l=t&&0<t.remainingCapacity)&&
(l=(i="<"+(""+n).replace(Si,ki)+">; rel=dns-prefetch",0<=(t.remainingCapacity-=i.length+2))),l?(r.resets.dns[n]=null,t.preconnects&&
(t.preconnects+=", "),t.preconnects+=i):(i=[],rn(i,{href:n,rel:"dns-prefetch"}),r.preconnects.add(i))}_e(e)}}else zn.D(n)}
function Uu(n,e){var t=j||null;if(t){var r=t.resumableState,i=t.renderState;if(typeof n=="string"&&n){var l=e==="use-cre\
dentials"?"credentials":typeof e=="string"?"anonymous":"default";if(!r.connectResources[l].hasOwnProperty(n)){r.connectResources[l][n]=
null,r=i.headers;var a,u;if(u=r&&0<r.remainingCapacity){if(u="<"+(""+n).replace(Si,ki)+">; rel=preconnect",typeof e=="st\
ring"){var o=(""+e).replace(pi,Ti);u+='; crossorigin="'+o+'"'}u=(a=u,0<=(r.remainingCapacity-=a.length+2))}u?(i.resets.connect[l][n]=
null,r.preconnects&&(r.preconnects+=", "),r.preconnects+=a):(l=[],rn(l,{rel:"preconnect",href:n,crossOrigin:e}),i.preconnects.
add(l))}_e(t)}}else zn.C(n,e)}function Wu(n,e,t){var r=j||null;if(r){var i=r.resumableState,l=r.renderState;if(e&&n){switch(e){case"\
image":if(t)var a=t.imageSrcSet,u=t.imageSizes,o=t.fetchPriority;var c=a?a+`
`+(u||""):n;if(i.imageResources.hasOwnProperty(c))return;i.imageResources[c]=En,i=l.headers;var f;i&&0<i.remainingCapacity&&
typeof a!="string"&&o==="high"&&(f=vr(n,e,t),0<=(i.remainingCapacity-=f.length+2))?(l.resets.image[c]=En,i.highImagePreloads&&
(i.highImagePreloads+=", "),i.highImagePreloads+=f):(i=[],rn(i,sn({rel:"preload",href:a?void 0:n,as:e},t)),o==="high"?l.
highImagePreloads.add(i):(l.bulkPreloads.add(i),l.preloads.images.set(c,i)));break;case"style":if(i.styleResources.hasOwnProperty(
n))return;a=[],rn(a,sn({rel:"preload",href:n,as:e},t)),i.styleResources[n]=!t||typeof t.crossOrigin!="string"&&typeof t.
integrity!="string"?En:[t.crossOrigin,t.integrity],l.preloads.stylesheets.set(n,a),l.bulkPreloads.add(a);break;case"scri\
pt":if(i.scriptResources.hasOwnProperty(n))return;a=[],l.preloads.scripts.set(n,a),l.bulkPreloads.add(a),rn(a,sn({rel:"p\
reload",href:n,as:e},t)),i.scriptResources[n]=!t||typeof t.crossOrigin!="string"&&typeof t.integrity!="string"?En:[t.crossOrigin,
t.integrity];break;default:if(i.unknownResources.hasOwnProperty(e)){if(a=i.unknownResources[e],a.hasOwnProperty(n))return}else
a={},i.unknownResources[e]=a;a[n]=En,(i=l.headers)&&0<i.remainingCapacity&&e==="font"&&(c=vr(n,e,t),0<=(i.remainingCapacity-=
c.length+2))?(l.resets.font[n]=En,i.fontPreloads&&(i.fontPreloads+=", "),i.fontPreloads+=c):(i=[],n=sn({rel:"preload",href:n,
as:e},t),rn(i,n),e)==="font"?l.fontPreloads.add(i):l.bulkPreloads.add(i)}_e(r)}}else zn.L(n,e,t)}function Gu(n,e){var t=j||
null;if(t){var r=t.resumableState,i=t.renderState;if(n){var l=e&&typeof e.as=="string"?e.as:"script";switch(l){case"scri\
pt":if(r.moduleScriptResources.hasOwnProperty(n))return;l=[],r.moduleScriptResources[n]=!e||typeof e.crossOrigin!="strin\
g"&&typeof e.integrity!="string"?En:[e.crossOrigin,e.integrity],i.preloads.moduleScripts.set(n,l);break;default:if(r.moduleUnknownResources.
hasOwnProperty(l)){var a=r.moduleUnknownResources[l];if(a.hasOwnProperty(n))return}else a={},r.moduleUnknownResources[l]=
a;l=[],a[n]=En}rn(l,sn({rel:"modulepreload",href:n},e)),i.bulkPreloads.add(l),_e(t)}}else zn.m(n,e)}function Xu(n,e,t){var r=j||
null;if(r){var i=r.resumableState,l=r.renderState;if(n){e=e||"default";var a=l.styles.get(e),u=i.styleResources.hasOwnProperty(
n)?i.styleResources[n]:void 0;u!==null&&(i.styleResources[n]=null,a||(a={precedence:w(e),rules:[],hrefs:[],sheets:new Map},
l.styles.set(e,a)),e={state:0,props:sn({rel:"stylesheet",href:n,"data-precedence":e},t)},u&&(u.length===2&&Et(e.props,u),
(l=l.preloads.stylesheets.get(n))&&0<l.length?l.length=0:e.state=1),a.sheets.set(n,e),_e(r))}}else zn.S(n,e,t)}function Zu(n,e){
var t=j||null;if(t){var r=t.resumableState,i=t.renderState;if(n){var l=r.scriptResources.hasOwnProperty(n)?r.scriptResources[n]:
void 0;l!==null&&(r.scriptResources[n]=null,e=sn({src:n,async:!0},e),l&&(l.length===2&&Et(e,l),n=i.preloads.scripts.get(
n))&&(n.length=0),n=[],i.scripts.add(n),dr(n,e),_e(t))}}else zn.X(n,e)}function Vu(n,e){var t=j||null;if(t){var r=t.resumableState,
i=t.renderState;if(n){var l=r.moduleScriptResources.hasOwnProperty(n)?r.moduleScriptResources[n]:void 0;l!==null&&(r.moduleScriptResources[n]=
null,e=sn({src:n,type:"module",async:!0},e),l&&(l.length===2&&Et(e,l),n=i.preloads.moduleScripts.get(n))&&(n.length=0),n=
[],i.scripts.add(n),dr(n,e),_e(t))}}else zn.M(n,e)}function Et(n,e){n.crossOrigin==null&&(n.crossOrigin=e[0]),n.integrity==
null&&(n.integrity=e[1])}function vr(n,e,t){n=(""+n).replace(Si,ki),e=(""+e).replace(pi,Ti),e="<"+n+'>; rel=preload; as=\
"'+e+'"';for(var r in t)F.call(t,r)&&(n=t[r],typeof n=="string"&&(e+="; "+r.toLowerCase()+'="'+(""+n).replace(pi,Ti)+'"'));
return e}var Si=/[<>\r\n]/g;function ki(n){switch(n){case"<":return"%3C";case">":return"%3E";case`
`:return"%0A";case"\r":return"%0D";default:throw Error("escapeLinkHrefForHeaderContextReplacer encountered a match it do\
es not know how to replace. this means the match regex and the replacement characters are no longer in sync. This is a b\
ug in React")}}var pi=/["';,\r\n]/g;function Ti(n){switch(n){case'"':return"%22";case"'":return"%27";case";":return"%3B";case"\
,":return"%2C";case`
`:return"%0A";case"\r":return"%0D";default:throw Error("escapeStringForLinkHeaderQuotedParamValueContextReplacer encount\
ered a match it does not know how to replace. this means the match regex and the replacement characters are no longer in\
 sync. This is a bug in React")}}function Qu(n){this.styles.add(n)}function Ju(n){this.stylesheets.add(n)}function qe(n,e){
e.styles.forEach(Qu,n),e.stylesheets.forEach(Ju,n),e.suspenseyImages&&(n.suspenseyImages=!0)}function Ku(n,e){var t=n.idPrefix,
r=[],i=n.bootstrapScriptContent,l=n.bootstrapScripts,a=n.bootstrapModules;i!==void 0&&(r.push("<script"),ar(r,n),r.push(
">",(""+i).replace(pa,Ta),"</script>")),i=t+"P:";var u=t+"S:";t+="B:";var o=new Set,c=new Set,f=new Set,s=new Map,d=new Set,
h=new Set,g=new Set,b={images:new Map,stylesheets:new Map,scripts:new Map,moduleScripts:new Map};if(l!==void 0)for(var C=0;C<
l.length;C++){var R=l[C],_,z=void 0,L=void 0,T={rel:"preload",as:"script",fetchPriority:"low",nonce:void 0};typeof R=="s\
tring"?T.href=_=R:(T.href=_=R.src,T.integrity=L=typeof R.integrity=="string"?R.integrity:void 0,T.crossOrigin=z=typeof R==
"string"||R.crossOrigin==null?void 0:R.crossOrigin==="use-credentials"?"use-credentials":""),R=n;var P=_;R.scriptResources[P]=
null,R.moduleScriptResources[P]=null,R=[],rn(R,T),d.add(R),r.push('<script src="',w(_),'"'),typeof L=="string"&&r.push('\
 integrity="',w(L),'"'),typeof z=="string"&&r.push(' crossorigin="',w(z),'"'),ar(r,n),r.push(' async=""></script>')}if(a!==
void 0)for(l=0;l<a.length;l++)T=a[l],z=_=void 0,L={rel:"modulepreload",fetchPriority:"low",nonce:void 0},typeof T=="stri\
ng"?L.href=C=T:(L.href=C=T.src,L.integrity=z=typeof T.integrity=="string"?T.integrity:void 0,L.crossOrigin=_=typeof T=="\
string"||T.crossOrigin==null?void 0:T.crossOrigin==="use-credentials"?"use-credentials":""),T=n,R=C,T.scriptResources[R]=
null,T.moduleScriptResources[R]=null,T=[],rn(T,L),d.add(T),r.push('<script type="module" src="',w(C),'"'),typeof z=="str\
ing"&&r.push(' integrity="',w(z),'"'),typeof _=="string"&&r.push(' crossorigin="',w(_),'"'),ar(r,n),r.push(' async=""></\
script>');return{placeholderPrefix:i,segmentPrefix:u,boundaryPrefix:t,startInlineScript:"<script",startInlineStyle:"<sty\
le",preamble:{htmlChunks:null,headChunks:null,bodyChunks:null},externalRuntimeScript:null,bootstrapChunks:r,importMapChunks:[],
onHeaders:void 0,headers:null,resets:{font:{},dns:{},connect:{default:{},anonymous:{},credentials:{}},image:{},style:{}},
charsetChunks:[],viewportChunks:[],hoistableChunks:[],preconnects:o,fontPreloads:c,highImagePreloads:f,styles:s,bootstrapScripts:d,
scripts:h,bulkPreloads:g,preloads:b,nonce:{script:void 0,style:void 0},stylesToHoist:!1,generateStaticMarkup:e}}function Zl(n,e,t,r){
return t.generateStaticMarkup?(n.push(w(e)),!1):(e===""?n=r:(r&&n.push("<!-- -->"),n.push(w(e)),n=!0),n)}function Tt(n,e,t,r){
e.generateStaticMarkup||t&&r&&n.push("<!-- -->")}var qu=Function.prototype.bind,ju=Symbol.for("react.client.reference");
function yr(n){if(n==null)return null;if(typeof n=="function")return n.$$typeof===ju?null:n.displayName||n.name||null;if(typeof n==
"string")return n;switch(n){case sa:return"Fragment";case da:return"Profiler";case ha:return"StrictMode";case Ar:return"\
Suspense";case xi:return"SuspenseList";case va:return"Activity";case Ai:return"ViewTransition"}if(typeof n=="object")switch(n.
$$typeof){case fa:return"Portal";case Cr:return n.displayName||"Context";case ga:return(n._context.displayName||"Context")+
".Consumer";case mi:var e=n.render;return n=n.displayName,n||(n=e.displayName||e.name||"",n=n!==""?"ForwardRef("+n+")":"\
ForwardRef"),n;case Ci:return e=n.displayName||null,e!==null?e:yr(n.type)||"Memo";case _r:e=n._payload,n=n._init;try{return yr(
n(e))}catch{}}return null}var Vl={},Ee=null;function kr(n,e){if(n!==e){n.context._currentValue2=n.parentValue,n=n.parent;
var t=e.parent;if(n===null){if(t!==null)throw Error(v(401))}else{if(t===null)throw Error(v(401));kr(n,t)}e.context._currentValue2=
e.value}}function Sa(n){n.context._currentValue2=n.parentValue,n=n.parent,n!==null&&Sa(n)}function ka(n){var e=n.parent;
e!==null&&ka(e),n.context._currentValue2=n.value}function Na(n,e){if(n.context._currentValue2=n.parentValue,n=n.parent,n===
null)throw Error(v(402));n.depth===e.depth?kr(n,e):Na(n,e)}function Oa(n,e){var t=e.parent;if(t===null)throw Error(v(402));
n.depth===t.depth?kr(n,t):Oa(n,t),e.context._currentValue2=e.value}function $n(n){var e=Ee;e!==n&&(e===null?ka(n):n===null?
Sa(e):e.depth===n.depth?kr(e,n):e.depth>n.depth?Na(e,n):Oa(e,n),Ee=n)}var Ql={enqueueSetState:function(n,e){n=n._reactInternals,
n.queue!==null&&n.queue.push(e)},enqueueReplaceState:function(n,e){n=n._reactInternals,n.replace=!0,n.queue=[e]},enqueueForceUpdate:function(){}},
$u={id:1,overflow:""};function Ma(n){var e=n.overflow;return n=n.id,(n&~(1<<32-or(n)-1)).toString(32)+e}function ee(n,e,t){
var r=n.id;n=n.overflow;var i=32-or(r)-1;r&=~(1<<i),t+=1;var l=32-or(e)+i;if(30<l){var a=i-i%5;return l=(r&(1<<a)-1).toString(
32),r>>=a,i-=a,{id:1<<32-or(e)+i|t<<i|r,overflow:l+n}}return{id:1<<l|t<<i|r,overflow:n}}var or=Math.clz32?Math.clz32:tc,
nc=Math.log,ec=Math.LN2;function tc(n){return n>>>=0,n===0?32:31-(nc(n)/ec|0)|0}function fn(){}var un=Error(v(460));function rc(n,e,t){
switch(t=n[t],t===void 0?n.push(e):t!==e&&(e.then(fn,fn),e=t),e.status){case"fulfilled":return e.value;case"rejected":throw n=
e.reason,n===void 0&&!("reason"in e)?Error(v(600)):n;default:switch(typeof e.status=="string"?e.then(fn,fn):(n=e,n.status=
"pending",n.then(function(r){if(e.status==="pending"){var i=e;i.status="fulfilled",i.value=r}},function(r){if(e.status===
"pending"){var i=e;i.status="rejected",i.reason=r}})),e.status){case"fulfilled":return e.value;case"rejected":throw e.reason}
throw ur=e,un}}var ur=null;function br(){if(ur===null)throw Error(v(459));var n=ur;return ur=null,n}function ic(n,e){return n===
e&&(n!==0||1/n===1/e)||n!==n&&e!==e}var lc=typeof Object.is=="function"?Object.is:ic,Yn=null,Ni=null,Oi=null,Mi=null,cr=null,
N=null,yt=!1,pr=!1,Rt=0,Pt=0,mt=-1,Tr=0,Je=null;function Fa(n){if(n=n._reason,typeof n=="function")try{var e=n()}catch{e=
"The reason for browser-only rendering could not be determined because its initializer threw."}else e=n;return e=Error(v(
603),n===void 0?void 0:{cause:e}),Object.defineProperty(e,Sr,{value:!0}),e}function Nr(n){return typeof n!="object"||n===
null?!1:n[Sr]===!0}function Fi(n){var e=Error(v(604),F.call(n,"cause")?{cause:n.cause}:void 0);if(n=n.stack,n!==void 0){
var t=n.indexOf(`
`);e.stack=e.name+": "+e.message+(t===-1?"":n.slice(t))}else e.stack=void 0;return e}var te=null,Or=0;function Bn(){if(Yn===
null)throw Error(v(321));return Yn}function Jl(){if(0<Or)throw Error(v(312));return{memoizedState:null,queue:null,next:null}}
function Ii(){return N===null?cr===null?(yt=!1,cr=N=Jl()):(yt=!0,N=cr):N.next===null?(yt=!1,N=N.next=Jl()):(yt=!0,N=N.next),
N}function re(){var n=Je;return Je=null,n}function xt(){Mi=Oi=Ni=Yn=null,pr=!1,cr=null,Or=0,N=te=null}function Ia(n,e){return typeof e==
"function"?e(n):e}function Kl(n,e,t){if(Yn=Bn(),N=Ii(),yt){var r=N.queue;if(e=r.dispatch,te!==null&&(t=te.get(r),t!==void 0)){
te.delete(r),r=N.memoizedState;do r=n(r,t.action),t=t.next;while(t!==null);return N.memoizedState=r,[r,e]}return[N.memoizedState,
e]}return n=n===Ia?typeof e=="function"?e():e:t!==void 0?t(e):e,N.memoizedState=n,n=N.queue={last:null,dispatch:null},n=
n.dispatch=ac.bind(null,Yn,n),[N.memoizedState,n]}function ql(n,e){if(Yn=Bn(),N=Ii(),e=e===void 0?null:e,N!==null){var t=N.
memoizedState;if(t!==null&&e!==null){var r=t[1];n:if(r===null)r=!1;else{for(var i=0;i<r.length&&i<e.length;i++)if(!lc(e[i],
r[i])){r=!1;break n}r=!0}if(r)return t[0]}}return n=n(),N.memoizedState=[n,e],n}function ac(n,e,t){if(25<=Or)throw Error(
v(301));if(n===Yn)if(pr=!0,n={action:t,next:null},te===null&&(te=new Map),t=te.get(e),t===void 0)te.set(e,n);else{for(e=
t;e.next!==null;)e=e.next;e.next=n}}function oc(){throw Error(v(440))}function uc(){throw Error(v(394))}function cc(){throw Error(
v(479))}function jl(n,e,t){Bn();var r=Pt++,i=Oi;if(typeof n.$$FORM_ACTION=="function"){var l=null,a=Mi;i=i.formState;var u=n.
$$IS_SIGNATURE_EQUAL;if(i!==null&&typeof u=="function"){var o=i[1];u.call(n,i[2],i[3])&&(l=t!==void 0?"p"+t:"k"+Ml(JSON.
stringify([a,null,r]),0),o===l&&(mt=r,e=i[0]))}var c=n.bind(null,e);return n=function(s){c(s)},typeof c.$$FORM_ACTION=="\
function"&&(n.$$FORM_ACTION=function(s){s=c.$$FORM_ACTION(s),t!==void 0&&(t+="",s.action=t);var d=s.data;return d&&(l===
null&&(l=t!==void 0?"p"+t:"k"+Ml(JSON.stringify([a,null,r]),0)),d.append("$ACTION_KEY",l)),s}),[e,n,!1]}var f=n.bind(null,
e);return[e,function(s){f(s)},!1]}function La(n){var e=Tr;return Tr+=1,Je===null&&(Je=[]),rc(Je,n,e)}function fc(){throw Error(
v(393))}var $l={readContext:function(n){return n._currentValue2},use:function(n){if(n!==null&&typeof n=="object"){if(typeof n.
then=="function")return La(n);if(n.$$typeof===Sr)throw Fa(n);if(n.$$typeof===Cr)return n._currentValue2}throw Error(v(438,
String(n)))},useContext:function(n){return Bn(),n._currentValue2},useMemo:ql,useReducer:Kl,useRef:function(n){Yn=Bn(),N=
Ii();var e=N.memoizedState;return e===null?(n={current:n},N.memoizedState=n):e},useState:function(n){return Kl(Ia,n)},useInsertionEffect:fn,
useLayoutEffect:fn,useCallback:function(n,e){return ql(function(){return n},e)},useImperativeHandle:fn,useEffect:fn,useDebugValue:fn,
useDeferredValue:function(n,e){return Bn(),e!==void 0?e:n},useTransition:function(){return Bn(),[!1,uc]},useId:function(){
var n=Ma(Ni.treeContext),e=fr;if(e===null)throw Error(v(404));var t=Rt++;return Ea(e,n,t)},useSyncExternalStore:function(n,e,t){
if(t===void 0)throw Error(v(407));return t()},useOptimistic:function(n){return Bn(),[n,cc]},useActionState:jl,useFormState:jl,
useHostTransitionStatus:function(){return Bn(),Pu},useMemoCache:function(n){for(var e=Array(n),t=0;t<n;t++)e[t]=gu;return e},
useCacheRefresh:function(){return fc},useEffectEvent:function(){return oc}},fr=null,sc={getCacheForType:function(){throw Error(
v(248))},cacheSignal:function(){throw Error(v(248))}},fi,na;function we(n){if(fi===void 0)try{throw Error()}catch(t){var e=t.
stack.trim().match(/\n( *(at )?)/);fi=e&&e[1]||"",na=-1<t.stack.indexOf(`
    at`)?" (<anonymous>)":-1<t.stack.indexOf("@")?"@unknown:0:0":""}return`
`+fi+n+na}var si=!1;function rr(n,e){if(!n||si)return"";si=!0;var t=Error.prepareStackTrace;Error.prepareStackTrace=void 0;
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
f}while(1<=r&&0<=i);break}}}finally{si=!1,Error.prepareStackTrace=t}return(t=n?n.displayName||n.name:"")?we(t):""}function Ha(n){
if(typeof n=="string")return we(n);if(typeof n=="function")return n.prototype&&n.prototype.isReactComponent?rr(n,!0):rr(
n,!1);if(typeof n=="object"&&n!==null){switch(n.$$typeof){case mi:return rr(n.render,!1);case Ci:return rr(n.type,!1);case _r:
var e=n,t=e._payload;e=e._init;try{n=e(t)}catch{return we("Lazy")}return Ha(n)}if(typeof n.name=="string"){n:{t=n.name,e=
n.env;var r=n.debugLocation;if(r!=null&&(n=Error.prepareStackTrace,Error.prepareStackTrace=void 0,r=r.stack,Error.prepareStackTrace=
n,r.startsWith(`Error: react-stack-top-frame
`)&&(r=r.slice(29)),n=r.indexOf(`
`),n!==-1&&(r=r.slice(n+1)),n=r.indexOf("react_stack_bottom_frame"),n!==-1&&(n=r.lastIndexOf(`
`,n)),n=n!==-1?r=r.slice(0,n):"",r=n.lastIndexOf(`
`),n=r===-1?n:n.slice(r+1),n.indexOf(t)!==-1)){t=`
`+n;break n}t=we(t+(e?" ["+e+"]":""))}return t}}switch(n){case xi:return we("SuspenseList");case Ar:return we("Suspense");case Ai:
return we("ViewTransition")}return""}function je(n,e){return(500<e.byteSize||e.defer)&&e.preamble===null}function hc(n){
if(typeof n=="object"&&n!==null&&typeof n.environmentName=="string"){var e=n.environmentName;n=[n].slice(0),typeof n[0]==
"string"?n.splice(0,1,"[%s] "+n[0]," "+e+" "):n.splice(0,0,"[%s]"," "+e+" "),n.unshift(console),e=qu.apply(console.error,
n),e()}else console.error(n);return null}function dc(n,e,t,r,i,l,a,u,o,c,f){var s=new Set;this.destination=null,this.flushScheduled=
!1,this.resumableState=n,this.renderState=e,this.rootFormatContext=t,this.progressiveChunkSize=r===void 0?12800:r,this.status=
10,this.fatalError=null,this.aborted=!1,this.pendingRootTasks=this.allPendingTasks=this.nextSegmentId=0,this.completedPreambleSegments=
this.completedRootSegment=null,this.byteSize=0,this.abortableTasks=s,this.pingedTasks=[],this.currentTask=null,this.clientRenderedBoundaries=
[],this.completedBoundaries=[],this.partialBoundaries=[],this.postponedState=this.trackedPostpones=null,this.onError=i===
void 0?hc:i,this.onBrowserBailout=l===void 0?fn:l,this.onAllReady=a===void 0?fn:a,this.onShellReady=u===void 0?fn:u,this.
onShellError=o===void 0?fn:o,this.onFatalError=c===void 0?fn:c,this.renderLifetimeController=null,this.formState=f===void 0?
null:f}function gc(n,e,t,r,i,l,a,u,o,c,f,s){return e=new dc(e,t,r,i,l,a,u,o,c,f,s),t=Pe(e,0,null,r,!1,!1),t.parentFlushed=
!0,n=Er(e,null,n,-1,null,t,null,null,e.abortableTasks,null,r,null,$u,null,null),Ct(n),e.pingedTasks.push(n),e}var j=null;
function wr(n,e){n.pingedTasks.push(e),n.pingedTasks.length===1&&(n.flushScheduled=n.destination!==null,za(n))}function Li(n,e,t,r,i){
return t={status:0,rootSegmentID:-1,parentFlushed:!1,pendingTasks:0,row:e,completedSegments:[],byteSize:0,defer:i,fallbackAbortableTasks:t,
errorDigest:null,contentState:bi(),fallbackState:bi(),preamble:r,tracked:null},e!==null&&(e.pendingTasks++,r=e.boundaries,
r!==null&&(n.allPendingTasks++,t.pendingTasks++,r.push(t)),n=e.inheritedHoistables,n!==null&&qe(t.contentState,n)),t}function Er(n,e,t,r,i,l,a,u,o,c,f,s,d,h,g){
n.allPendingTasks++,i===null?n.pendingRootTasks++:i.pendingTasks++,h!==null&&h.pendingTasks++;var b={replay:null,node:t,
childIndex:r,ping:{resolve:function(){return wr(n,b)},reject:function(C){n.aborted?b.abortSet.delete(b)&&Ce(b,n,C):wr(n,
b)}},blockedBoundary:i,blockedSegment:l,blockedPreamble:a,hoistableState:u,abortSet:o,keyPath:c,formatContext:f,context:s,
treeContext:d,row:h,componentStack:g,thenableState:e};return o.add(b),b}function Da(n,e,t,r,i,l,a,u,o,c,f,s,d,h){n.allPendingTasks++,
l===null?n.pendingRootTasks++:l.pendingTasks++,d!==null&&d.pendingTasks++,t.pendingTasks++;var g={replay:t,node:r,childIndex:i,
ping:{resolve:function(){return wr(n,g)},reject:function(b){n.aborted?g.abortSet.delete(g)&&Ce(g,n,b):wr(n,g)}},blockedBoundary:l,
blockedSegment:null,blockedPreamble:null,hoistableState:a,abortSet:u,keyPath:o,formatContext:c,context:f,treeContext:s,row:d,
componentStack:h,thenableState:e};return u.add(g),g}function Pe(n,e,t,r,i,l){return{status:0,parentFlushed:!1,id:-1,index:e,
chunks:[],children:[],preambleChildren:[],parentFormatContext:r,boundary:t,lastPushedText:i,textEmbedded:l}}function Ct(n){
var e=n.node;typeof e=="object"&&e!==null&&e.$$typeof===ca&&(n.componentStack={parent:n.componentStack,type:e.type})}function wi(n){
return n===null?null:{parent:n.parent,type:"Suspense Fallback"}}function xe(n){var e={};return n&&Object.defineProperty(
e,"componentStack",{configurable:!0,enumerable:!0,get:function(){try{var t="",r=n;do t+=Ha(r.type),r=r.parent;while(r);var i=t}catch(l){
i=`
Error generating stack: `+l.message+`
`+l.stack}return Object.defineProperty(e,"componentStack",{value:i}),i}}),e}function Z(n,e,t){if(Nr(e))return n=n.onBrowserBailout,
n(e,t),"";if(n=n.onError,e=n(e,t),e==null||typeof e=="string")return e===""?void 0:e}function me(n,e){var t=n.onShellError,
r=n.onFatalError;n.pendingRootTasks!==0&&t(e),r(e),Yi(n),n.destination!==null?(n.status=13,n.destination.destroy(e)):(n.
status=12,n.aborted||(n.fatalError=e))}function ln(n,e){Hi(n,e.next,e.hoistables)}function Hi(n,e,t){for(;e!==null;){t!==
null&&(qe(e.hoistables,t),e.inheritedHoistables=t);var r=e.boundaries;if(r!==null){e.boundaries=null;for(var i=0;i<r.length;i++){
var l=r[i];t!==null&&qe(l.contentState,t),Ae(n,l,null,null)}}if(e.pendingTasks--,0<e.pendingTasks)break;t=e.hoistables,e=
e.next}}function Ei(n,e){var t=e.boundaries;if(t!==null&&e.pendingTasks===t.length){for(var r=!0,i=0;i<t.length;i++){var l=t[i];
if(l.pendingTasks!==1||l.parentFlushed||je(n,l)){r=!1;break}}r&&Hi(n,e,e.hoistables)}}function bt(n){var e={pendingTasks:1,
boundaries:null,hoistables:bi(),inheritedHoistables:null,together:!1,next:null};return n!==null&&0<n.pendingTasks&&(e.pendingTasks++,
e.boundaries=[],n.next=e),e}function ea(n,e,t,r,i){var l=e.keyPath,a=e.treeContext,u=e.row;e.keyPath=t,t=r.length;var o=null;
if(e.replay!==null){var c=e.replay.slots;if(c!==null&&typeof c=="object")for(var f=0;f<t;f++){var s=i!=="backwards"&&i!==
"unstable_legacy-backwards"?f:t-1-f,d=r[s];e.row=o=bt(o),e.treeContext=ee(a,t,s);var h=c[s];typeof h=="number"?(Mr(n,e,h,
d,s),delete c[s]):G(n,e,d,s),--o.pendingTasks===0&&ln(n,o)}else for(c=0;c<t;c++)f=i!=="backwards"&&i!=="unstable_legacy-\
backwards"?c:t-1-c,s=r[f],e.row=o=bt(o),e.treeContext=ee(a,t,f),G(n,e,s,f),--o.pendingTasks===0&&ln(n,o)}else if(i!=="ba\
ckwards"&&i!=="unstable_legacy-backwards")for(i=0;i<t;i++)c=r[i],e.row=o=bt(o),e.treeContext=ee(a,t,i),G(n,e,c,i),--o.pendingTasks===
0&&ln(n,o);else{for(c=e.blockedSegment,f=c.children.length,s=c.chunks.length,d=0;d<t;d++){h=i==="unstable_legacy-backwar\
ds"?t-1-d:d;var g=r[h];e.row=o=bt(o),e.treeContext=ee(a,t,h);var b=Pe(n,s,null,e.formatContext,h===0?c.lastPushedText:!0,
!0);c.children.splice(f,0,b),e.blockedSegment=b;try{G(n,e,g,h),Tt(b.chunks,n.renderState,b.lastPushedText,b.textEmbedded),
b.status=1,--o.pendingTasks===0&&ln(n,o)}catch(C){throw b.status=n.aborted?3:4,C}}e.blockedSegment=c,c.lastPushedText=!1}
u!==null&&o!==null&&0<o.pendingTasks&&(u.pendingTasks++,o.next=u),e.treeContext=a,e.row=u,e.keyPath=l}function ta(n,e,t,r,i,l){
var a=e.thenableState;for(e.thenableState=null,Yn={},Ni=e,Oi=n,Mi=t,Pt=Rt=0,mt=-1,Tr=0,Je=a,n=r(i,l);pr;)pr=!1,Pt=Rt=0,mt=
-1,Tr=0,Or+=1,N=null,n=r(i,l);return xt(),n}function ra(n,e,t,r,i,l,a){var u=!1;if(l!==0&&n.formState!==null){var o=e.blockedSegment;
if(o!==null){u=!0,o=o.chunks;for(var c=0;c<l;c++)c===a?o.push("<!--F!-->"):o.push("<!--F-->")}}l=e.keyPath,e.keyPath=t,i?
(t=e.treeContext,e.treeContext=ee(t,1,0),G(n,e,r,-1),e.treeContext=t):u?G(n,e,r,-1):pn(n,e,r,-1),e.keyPath=l}function Rr(n,e,t,r,i,l){
if(typeof r=="function")if(r.prototype&&r.prototype.isReactComponent){var a=i;if("ref"in i){a={};for(var u in i)u!=="ref"&&
(a[u]=i[u])}var o=r.defaultProps;if(o){a===i&&(a=sn({},a,i));for(var c in o)a[c]===void 0&&(a[c]=o[c])}var f=a,s=Vl,d=r.
contextType;typeof d=="object"&&d!==null&&(s=d._currentValue2);var h=new r(f,s),g=h.state!==void 0?h.state:null;h.updater=
Ql,h.props=f,h.state=g;var b={queue:[],replace:!1};h._reactInternals=b;var C=r.contextType;h.context=typeof C=="object"&&
C!==null?C._currentValue2:Vl;var R=r.getDerivedStateFromProps;if(typeof R=="function"){var _=R(f,g),z=_==null?g:sn({},g,
_);h.state=z}if(typeof r.getDerivedStateFromProps!="function"&&typeof h.getSnapshotBeforeUpdate!="function"&&(typeof h.UNSAFE_componentWillMount==
"function"||typeof h.componentWillMount=="function")){var L=h.state;if(typeof h.componentWillMount=="function"&&h.componentWillMount(),
typeof h.UNSAFE_componentWillMount=="function"&&h.UNSAFE_componentWillMount(),L!==h.state&&Ql.enqueueReplaceState(h,h.state,
null),b.queue!==null&&0<b.queue.length){var T=b.queue,P=b.replace;if(b.queue=null,b.replace=!1,P&&T.length===1)h.state=T[0];else{
for(var O=P?T[0]:h.state,dn=!0,E=P?1:0;E<T.length;E++){var H=T[E],D=typeof H=="function"?H.call(h,O,f,void 0):H;D!=null&&
(dn?(dn=!1,O=sn({},O,D)):sn(O,D))}h.state=O}}else b.queue=null}var X=h.render();if(n.aborted)throw null;var M=e.keyPath;
e.keyPath=t,pn(n,e,X,-1),e.keyPath=M}else{var cn=ta(n,e,t,r,i,void 0);if(n.aborted)throw null;ra(n,e,t,cn,Rt!==0,Pt,mt)}else if(typeof r==
"string"){var Y=e.blockedSegment;if(Y===null){var Un=i.children,gn=e.formatContext,U=e.keyPath;e.formatContext=Ll(gn,r,i),
e.keyPath=t,G(n,e,Un,-1),e.formatContext=gn,e.keyPath=U}else{var ae=Au(Y.chunks,r,i,n.resumableState,n.renderState,e.blockedPreamble,
e.hoistableState,e.formatContext,Y.lastPushedText);Y.lastPushedText=!1;var Q=e.formatContext,Sn=e.keyPath;if(e.keyPath=t,
(e.formatContext=Ll(Q,r,i)).insertionMode===3){var J=Pe(n,0,null,e.formatContext,!1,!1);Y.preambleChildren.push(J),e.blockedSegment=
J;try{G(n,e,ae,-1),Tt(J.chunks,n.renderState,J.lastPushedText,J.textEmbedded),J.status=1}finally{e.blockedSegment=Y}}else
G(n,e,ae,-1);e.formatContext=Q,e.keyPath=Sn;n:{var Tn=Y.chunks,Rn=n.resumableState;switch(r){case"title":case"style":case"\
script":case"area":case"base":case"br":case"col":case"embed":case"hr":case"img":case"input":case"keygen":case"link":case"\
meta":case"param":case"source":case"track":case"wbr":break n;case"body":if(1>=Q.insertionMode){Rn.hasBody=!0;break n}break;case"\
html":if(Q.insertionMode===0){Rn.hasHtml=!0;break n}break;case"head":if(1>=Q.insertionMode)break n}Tn.push(Re(r))}Y.lastPushedText=
!1}}else{switch(r){case du:case ha:case da:case sa:var kn=e.keyPath;e.keyPath=t,pn(n,e,i.children,-1),e.keyPath=kn;return;case va:
var I=e.blockedSegment;if(I===null){if(i.mode!=="hidden"){var Ln=e.keyPath;e.keyPath=t,G(n,e,i.children,-1),e.keyPath=Ln}}else if(i.
mode!=="hidden"){n.renderState.generateStaticMarkup||I.chunks.push("<!--&-->"),I.lastPushedText=!1;var oe=e.keyPath;e.keyPath=
t,G(n,e,i.children,-1),e.keyPath=oe,n.renderState.generateStaticMarkup||I.chunks.push("<!--/&-->"),I.lastPushedText=!1}return;case xi:
n:{var Nn=i.children,Wn=i.revealOrder;if(Wn!=="independent"&&Wn!=="together"){if(hr(Nn)){ea(n,e,t,Nn,Wn);break n}var tt=ya(
Nn);if(tt){var Oe=tt.call(Nn);if(Oe){var Me=Oe.next();if(!Me.done){do Me=Oe.next();while(!Me.done);ea(n,e,t,Nn,Wn)}break n}}}
if(Wn==="together"){var Yt=e.keyPath,On=e.row,nn=e.row=bt(null);nn.boundaries=[],nn.together=!0,e.keyPath=t,pn(n,e,Nn,-1),
--nn.pendingTasks===0&&ln(n,nn),e.keyPath=Yt,e.row=On,On!==null&&0<nn.pendingTasks&&(On.pendingTasks++,nn.next=On)}else{
var Ut=e.keyPath;e.keyPath=t,pn(n,e,Nn,-1),e.keyPath=Ut}}return;case Ai:var rt=e.formatContext,ue=e.keyPath,Wt=n.resumableState;
if(i.name==null||i.name==="auto"){var Hn=Ma(e.treeContext);Ea(Wt,Hn,0)}if(e.formatContext=rt,e.keyPath=t,i.name!=null&&i.
name!=="auto")pn(n,e,i.children,-1);else{var Gn=e.treeContext;e.treeContext=ee(Gn,1,0),G(n,e,i.children,-1),e.treeContext=
Gn}e.formatContext=rt,e.keyPath=ue;return;case hu:throw Error(v(343));case Ar:n:if(e.replay!==null){var ce=e.keyPath,Xn=e.
formatContext,fe=e.row;e.keyPath=t,e.formatContext=lr(n.resumableState,Xn),e.row=null;var Mn=i.children;try{G(n,e,Mn,-1)}finally{
e.keyPath=ce,e.formatContext=Xn,e.row=fe}}else{var Fe=e.keyPath,Zn=e.formatContext,an=e.row,it=e.blockedBoundary,se=e.blockedPreamble,
Gt=e.hoistableState,Pn=e.blockedSegment,lt=i.fallback,Vn=i.children,Qn=new Set,S=Li(n,e.row,Qn,null,!1),mn=Pe(n,Pn.chunks.
length,S,e.formatContext,!1,!1);Pn.children.push(mn),Pn.lastPushedText=!1;var wn=Pe(n,0,null,e.formatContext,!1,!1);wn.parentFlushed=
!0;var at=n.trackedPostpones;if(at!==null){var Ie=e.componentStack,Le=[t[0],"Suspense Fallback",t[2]];if(at!==null){var Xt=[
Le[1],Le[2],[],null];at.workingMap.set(Le,Xt),S.tracked={contentKeyPath:t,fallbackNode:Xt}}e.blockedSegment=mn,e.blockedPreamble=
S.preamble===null?null:S.preamble.fallback,e.keyPath=Le,e.formatContext=gi(n.resumableState,Zn),e.componentStack=wi(Ie);
try{G(n,e,lt,-1),Tt(mn.chunks,n.renderState,mn.lastPushedText,mn.textEmbedded),mn.status=1}catch(Fn){throw mn.status=n.aborted?
3:4,Fn}finally{e.blockedSegment=Pn,e.blockedPreamble=se,e.keyPath=Fe,e.formatContext=Zn}var Zt=Er(n,null,Vn,-1,S,wn,S.preamble===
null?null:S.preamble.content,S.contentState,e.abortSet,t,lr(n.resumableState,e.formatContext),e.context,e.treeContext,null,
Ie);Ct(Zt),n.pingedTasks.push(Zt)}else{e.blockedBoundary=S,e.blockedPreamble=S.preamble===null?null:S.preamble.content,e.
hoistableState=S.contentState,e.blockedSegment=wn,e.keyPath=t,e.formatContext=lr(n.resumableState,Zn),e.row=null;try{if(G(
n,e,Vn,-1),Tt(wn.chunks,n.renderState,wn.lastPushedText,wn.textEmbedded),wn.status=1,At(S,wn),S.pendingTasks===0&&S.status===
0){if(S.status=1,!je(n,S)){an!==null&&--an.pendingTasks===0&&ln(n,an),n.pendingRootTasks===0&&e.blockedPreamble&&Nt(n);break n}}else
an!==null&&an.together&&Ei(n,an)}catch(Fn){if(S.status=4,n.aborted){wn.status=3;var xn=n.fatalError}else wn.status=4,xn=
Fn;var He=xe(e.componentStack),he=Z(n,xn,He);S.errorDigest=he,Di(n,S)}finally{e.blockedBoundary=it,e.blockedPreamble=se,
e.hoistableState=Gt,e.blockedSegment=Pn,e.keyPath=Fe,e.formatContext=Zn,e.row=an}var Dn=Er(n,null,lt,-1,it,mn,S.preamble===
null?null:S.preamble.fallback,S.fallbackState,Qn,[t[0],"Suspense Fallback",t[2]],gi(n.resumableState,e.formatContext),e.
context,e.treeContext,e.row,wi(e.componentStack));Ct(Dn),n.pingedTasks.push(Dn)}}return}if(typeof r=="object"&&r!==null)
switch(r.$$typeof){case mi:if("ref"in i){var Jn={};for(var Kn in i)Kn!=="ref"&&(Jn[Kn]=i[Kn])}else Jn=i;var ot=ta(n,e,t,
r.render,Jn,l);ra(n,e,t,ot,Rt!==0,Pt,mt);return;case Ci:Rr(n,e,t,r.type,i,l);return;case Cr:var Vt=i.children,Xr=e.keyPath,
De=i.value,Qt=r._currentValue2;r._currentValue2=De;var qn=Ee,de={parent:qn,depth:qn===null?0:qn.depth+1,context:r,parentValue:Qt,
value:De};Ee=de,e.context=de,e.keyPath=t,pn(n,e,Vt,-1);var ge=Ee;if(ge===null)throw Error(v(403));ge.context._currentValue2=
ge.parentValue;var Be=Ee=ge.parent;e.context=Be,e.keyPath=Xr;return;case ga:var ut=i.children,Jt=ut(r._context._currentValue2),
Kt=e.keyPath;e.keyPath=t,pn(n,e,Jt,-1),e.keyPath=Kt;return;case _r:var Zr=r._init,ze=Zr(r._payload);if(n.aborted)throw null;
Rr(n,e,t,ze,i,l);return}throw Error(v(130,r==null?r:typeof r,""))}}function Mr(n,e,t,r,i){var l=e.replay,a=e.blockedBoundary,
u=Pe(n,0,null,e.formatContext,!1,!1);u.id=t,u.parentFlushed=!0;try{e.replay=null,e.blockedSegment=u,G(n,e,r,i),u.status=
1,a===null?n.completedRootSegment=u:(At(a,u),a.parentFlushed&&n.partialBoundaries.push(a))}finally{e.replay=l,e.blockedSegment=
null}}function pn(n,e,t,r){e.replay!==null&&typeof e.replay.slots=="number"?Mr(n,e,e.replay.slots,t,r):(e.node=t,e.childIndex=
r,t=e.componentStack,Ct(e),Ri(n,e),e.componentStack=t)}function Ri(n,e){var t=e.node,r=e.childIndex;if(t!==null){if(typeof t==
"object"){switch(t.$$typeof){case ca:var i=t.type,l=t.key,a=t.props;t=a.ref;var u=t!==void 0?t:null,o=yr(i),c=l==null||l===
vu?r===-1?0:r:l;if(l=[e.keyPath,o,c],e.replay!==null)n:{var f=e.replay;for(r=f.nodes,t=0;t<r.length;t++){var s=r[t];if(c===
s[1]){if(s.length===4){if(o!==null&&o!==s[0])throw Error(v(490,s[0],o));var d=s[2],h=s[3],g=e.node;e.replay={nodes:d,slots:h,
pendingTasks:1};try{if(Rr(n,e,l,i,a,u),e.replay.pendingTasks===1&&0<e.replay.nodes.length)throw Error(v(488));e.replay.pendingTasks--}catch(O){
if(typeof O=="object"&&O!==null&&(O===un||typeof O.then=="function"||O.message==="Maximum call stack size exceeded"))throw e.
node===g?e.replay=f:r.splice(t,1),O;e.replay.pendingTasks--,l=xe(e.componentStack),g=n,a=e.blockedBoundary,n=n.aborted?n.
fatalError:O,l=Z(g,n,l),kt(g,a,d,h,n,l)}e.replay=f}else{if(i!==Ar)throw Error(v(490,"Suspense",yr(i)||"Unknown"));e:{f=s[5],
i=s[2],u=s[3],o=s[4]===null?[]:s[4][2],s=s[4]===null?null:s[4][3],c=e.keyPath;var b=e.formatContext,C=e.row,R=e.replay,_=e.
blockedBoundary,z=e.hoistableState,L=a.children;a=a.fallback;var T=new Set,P=Li(n,e.row,T,null,!1);P.parentFlushed=!0,P.
rootSegmentID=f,e.blockedBoundary=P,e.hoistableState=P.contentState,e.keyPath=l,e.formatContext=lr(n.resumableState,b),e.
row=null,e.replay={nodes:i,slots:u,pendingTasks:1};try{if(G(n,e,L,-1),e.replay.pendingTasks===1&&0<e.replay.nodes.length)
throw Error(v(488));if(e.replay.pendingTasks--,P.pendingTasks===0&&P.status===0){P.status=1,n.completedBoundaries.push(P);
break e}}catch(O){P.status=4,d=n.aborted?n.fatalError:O,h=xe(e.componentStack),g=Z(n,d,h),P.errorDigest=g,e.replay.pendingTasks--,
n.clientRenderedBoundaries.push(P)}finally{e.blockedBoundary=_,e.hoistableState=z,e.replay=R,e.keyPath=c,e.formatContext=
b,e.row=C}d=Da(n,null,{nodes:o,slots:s,pendingTasks:0},a,-1,_,P.fallbackState,T,[l[0],"Suspense Fallback",l[2]],gi(n.resumableState,
e.formatContext),e.context,e.treeContext,e.row,wi(e.componentStack)),Ct(d),n.pingedTasks.push(d)}}r.splice(t,1);break n}}}else
Rr(n,e,l,i,a,u);return;case fa:throw Error(v(257));case _r:if(d=t._init,t=d(t._payload),n.aborted)throw null;pn(n,e,t,r);
return}if(hr(t)){Pi(n,e,t,r);return}if((d=ya(t))&&(d=d.call(t))){if(t=d.next(),!t.done){h=[];do h.push(t.value),t=d.next();while(!t.
done);Pi(n,e,h,r)}return}if(typeof t.then=="function")return e.thenableState=null,pn(n,e,La(t),r);if(t.$$typeof===Cr)return pn(
n,e,t._currentValue2,r);throw r=Object.prototype.toString.call(t),Error(v(31,r==="[object Object]"?"object with keys {"+
Object.keys(t).join(", ")+"}":r))}typeof t=="string"?(r=e.blockedSegment,r!==null&&(r.lastPushedText=Zl(r.chunks,t,n.renderState,
r.lastPushedText))):(typeof t=="number"||typeof t=="bigint")&&(r=e.blockedSegment,r!==null&&(r.lastPushedText=Zl(r.chunks,
""+t,n.renderState,r.lastPushedText)))}}function Pi(n,e,t,r){var i=e.keyPath;if(r!==-1&&(e.keyPath=[e.keyPath,"Fragment",
r],e.replay!==null)){for(var l=e.replay,a=l.nodes,u=0;u<a.length;u++){var o=a[u];if(o[1]===r){r=o[2],o=o[3],e.replay={nodes:r,
slots:o,pendingTasks:1};try{if(Pi(n,e,t,-1),e.replay.pendingTasks===1&&0<e.replay.nodes.length)throw Error(v(488));e.replay.
pendingTasks--}catch(s){if(typeof s=="object"&&s!==null&&(s===un||typeof s.then=="function"))throw s;e.replay.pendingTasks--;
var c=xe(e.componentStack);t=n;var f=e.blockedBoundary;n=n.aborted?n.fatalError:s,c=Z(t,n,c),kt(t,f,r,o,n,c)}e.replay=l,
a.splice(u,1);break}}e.keyPath=i;return}if(l=e.treeContext,a=t.length,e.replay!==null&&(u=e.replay.slots,u!==null&&typeof u==
"object")){for(r=0;r<a;r++)o=t[r],e.treeContext=ee(l,a,r),f=u[r],typeof f=="number"?(Mr(n,e,f,o,r),delete u[r]):G(n,e,o,
r);e.treeContext=l,e.keyPath=i;return}for(u=0;u<a;u++)r=t[u],e.treeContext=ee(l,a,u),G(n,e,r,u);e.treeContext=l,e.keyPath=
i}function Ba(n,e,t){t.status=5,t.rootSegmentID=n.nextSegmentId++;var r=t.tracked;if(r===null||(n=r.contentKeyPath,n===null))
throw Error(v(486));r=r.fallbackNode;var i=[],l=e.workingMap.get(n);return l===void 0?(t=[n[1],n[2],i,null,r,t.rootSegmentID],
e.workingMap.set(n,t),xr(t,n[0],e),t):(l[4]=r,l[5]=t.rootSegmentID,l)}function ia(n,e,t,r){r.status=5;var i=t.keyPath,l=t.
blockedBoundary;if(l===null)r.id=n.nextSegmentId++,e.rootSlots=r.id,n.completedRootSegment!==null&&(n.completedRootSegment.
status=5);else{if(l!==null&&l.status===0){var a=Ba(n,e,l);if(l.tracked!==null&&l.tracked.contentKeyPath===i&&t.childIndex===
-1){r.id===-1&&(r.id=r.parentFlushed?l.rootSegmentID:n.nextSegmentId++),a[3]=r.id;return}}if(r.id===-1&&(r.id=r.parentFlushed&&
l!==null?l.rootSegmentID:n.nextSegmentId++),t.childIndex===-1)i===null?e.rootSlots=r.id:(t=e.workingMap.get(i),t===void 0?
(t=[i[1],i[2],[],r.id],xr(t,i[0],e)):t[3]=r.id);else{if(i===null){if(n=e.rootSlots,n===null)n=e.rootSlots={};else if(typeof n==
"number")throw Error(v(491))}else if(l=e.workingMap,a=l.get(i),a===void 0)n={},a=[i[1],i[2],[],n],l.set(i,a),xr(a,i[0],e);else if(n=
a[3],n===null)n=a[3]={};else if(typeof n=="number")throw Error(v(491));n[t.childIndex]=r.id}}}function Di(n,e){n=n.trackedPostpones,
n!==null&&(e=e.tracked,e!==null&&(e=e.contentKeyPath,e!==null&&(n=n.workingMap.get(e),n!==void 0&&(n.length=4,n[2]=[],n[3]=
null))))}function la(n,e,t){return Da(n,t,e.replay,e.node,e.childIndex,e.blockedBoundary,e.hoistableState,e.abortSet,e.keyPath,
e.formatContext,e.context,e.treeContext,e.row,e.componentStack)}function aa(n,e,t){var r=e.blockedSegment,i=Pe(n,r.chunks.
length,null,e.formatContext,r.lastPushedText,!0);return r.children.push(i),r.lastPushedText=!1,Er(n,t,e.node,e.childIndex,
e.blockedBoundary,i,e.blockedPreamble,e.hoistableState,e.abortSet,e.keyPath,e.formatContext,e.context,e.treeContext,e.row,
e.componentStack)}function G(n,e,t,r){var i=e.formatContext,l=e.context,a=e.keyPath,u=e.treeContext,o=e.componentStack,c=e.
blockedSegment;if(c===null){c=e.replay;try{return pn(n,e,t,r)}catch(d){if(xt(),t=d===un?br():d,!n.aborted&&typeof t=="ob\
ject"&&t!==null){if(typeof t.then=="function"){r=d===un?re():null,n=la(n,e,r).ping,t.then(n.resolve,n.reject),e.formatContext=
i,e.context=l,e.keyPath=a,e.treeContext=u,e.componentStack=o,e.replay=c,$n(l);return}if(t.message==="Maximum call stack \
size exceeded"){t=d===un?re():null,t=la(n,e,t),n.pingedTasks.push(t),e.formatContext=i,e.context=l,e.keyPath=a,e.treeContext=
u,e.componentStack=o,e.replay=c,$n(l);return}}}}else{var f=c.children.length,s=c.chunks.length;try{return pn(n,e,t,r)}catch(d){
if(xt(),c.children.length=f,c.chunks.length=s,t=d===un?br():d,!n.aborted&&typeof t=="object"&&t!==null){if(typeof t.then==
"function"){c=t,t=d===un?re():null,n=aa(n,e,t).ping,c.then(n.resolve,n.reject),e.formatContext=i,e.context=l,e.keyPath=a,
e.treeContext=u,e.componentStack=o,$n(l);return}if(t.message==="Maximum call stack size exceeded"){c=d===un?re():null,c=
aa(n,e,c),n.pingedTasks.push(c),e.formatContext=i,e.context=l,e.keyPath=a,e.treeContext=u,e.componentStack=o,$n(l);return}}}}
throw e.formatContext=i,e.context=l,e.keyPath=a,e.treeContext=u,$n(l),t}function vc(n){var e=n.blockedBoundary,t=n.blockedSegment;
t!==null&&(t.status=3,Ae(this,e,n.row,t))}function kt(n,e,t,r,i,l){for(var a=0;a<t.length;a++){var u=t[a];if(u.length===
4)kt(n,e,u[2],u[3],i,l);else{u=u[5];var o=n,c=l,f=Li(o,null,new Set,null,!1);f.parentFlushed=!0,f.rootSegmentID=u,f.status=
4,f.errorDigest=c,f.parentFlushed&&o.clientRenderedBoundaries.push(f)}}if(t.length=0,r!==null){if(e===null)throw Error(v(
487));if(e.status!==4&&(e.status=4,e.errorDigest=l,e.parentFlushed&&n.clientRenderedBoundaries.push(e)),typeof r=="objec\
t")for(var s in r)delete r[s]}}function Pr(n,e){if(n!==e.currentTask){var t=n.blockedBoundary;n=n.blockedSegment,n!==null&&
(n.status=3),t!==null&&t.fallbackAbortableTasks.forEach(function(r){return Pr(r,e)})}}function Ce(n,e,t){if(n!==e.currentTask){
var r=n.blockedBoundary,i=n.blockedSegment;if(i===null||i.status===3){var l=xe(n.componentStack),a=Nr(t);if(r===null){if(r=
n.replay,r===null){a||e.trackedPostpones===null||i===null?a?(n=Fi(t),Z(e,n,l),e.status!==12&&e.status!==13&&me(e,n)):(Z(
e,t,l),e.status!==12&&e.status!==13&&me(e,t)):(r=e.trackedPostpones,Z(e,t,l),ia(e,r,n,i),Ae(e,null,n.row,i));return}e.status!==
12&&e.status!==13&&(r.pendingTasks--,r.pendingTasks===0&&0<r.nodes.length&&(l=Z(e,t,l),kt(e,null,r.nodes,r.slots,t,l)),e.
pendingRootTasks--,e.pendingRootTasks===0&&zi(e))}else{var u=e.trackedPostpones;if(r.status!==4){if(!a&&u!==null&&i!==null)
return Z(e,t,l),ia(e,u,n,i),r.fallbackAbortableTasks.forEach(function(o){return Ce(o,e,t)}),r.fallbackAbortableTasks.clear(),
Ae(e,r,n.row,i);r.status=4,l=Z(e,t,l),r.errorDigest=l,Di(e,r),r.parentFlushed&&e.clientRenderedBoundaries.push(r)}r.pendingTasks--,
l=r.row,l!==null&&--l.pendingTasks===0&&ln(e,l),r.fallbackAbortableTasks.forEach(function(o){return Ce(o,e,t)}),r.fallbackAbortableTasks.
clear()}n=n.row,n!==null&&--n.pendingTasks===0&&ln(e,n),e.allPendingTasks--,e.allPendingTasks===0&&mr(e)}}}function Bi(n,e){
try{var t=n.renderState,r=t.onHeaders;if(r){var i=t.headers;if(i){t.headers=null;var l=i.preconnects;if(i.fontPreloads&&
(l&&(l+=", "),l+=i.fontPreloads),i.highImagePreloads&&(l&&(l+=", "),l+=i.highImagePreloads),!e){var a=t.styles.values(),
u=a.next();n:for(;0<i.remainingCapacity&&!u.done;u=a.next())for(var o=u.value.sheets.values(),c=o.next();0<i.remainingCapacity&&
!c.done;c=o.next()){var f=c.value,s=f.props,d=s.href,h=f.props,g=vr(h.href,"style",{crossOrigin:h.crossOrigin,integrity:h.
integrity,nonce:h.nonce,type:h.type,fetchPriority:h.fetchPriority,referrerPolicy:h.referrerPolicy,media:h.media});if(0<=
(i.remainingCapacity-=g.length+2))t.resets.style[d]=En,l&&(l+=", "),l+=g,t.resets.style[d]=typeof s.crossOrigin=="string"||
typeof s.integrity=="string"?[s.crossOrigin,s.integrity]:En;else break n}}r(l?{Link:l}:{})}}}catch(b){Z(n,b,{})}}function zi(n){
n.trackedPostpones===null&&Bi(n,!0),n.trackedPostpones===null&&Nt(n),n=n.onShellReady,n()}function mr(n){Bi(n,n.trackedPostpones===
null?!0:n.completedRootSegment===null||n.completedRootSegment.status!==5),Nt(n),n=n.onAllReady,n()}function At(n,e){if(e.
chunks.length===0&&e.children.length===1&&e.children[0].boundary===null&&e.children[0].id===-1){var t=e.children[0];t.id=
e.id,t.parentFlushed=!0,t.status!==1&&t.status!==3&&t.status!==4||At(n,t)}else n.completedSegments.push(e)}function Ae(n,e,t,r){
if(t!==null&&(--t.pendingTasks===0?ln(n,t):t.together&&Ei(n,t)),n.allPendingTasks--,e===null){if(r!==null&&r.parentFlushed){
if(n.completedRootSegment!==null)throw Error(v(389));n.completedRootSegment=r}n.pendingRootTasks--,n.pendingRootTasks===
0&&zi(n)}else if(e.pendingTasks--,e.status!==4)if(e.pendingTasks===0){if(e.status===0&&(e.status=1),r!==null&&r.parentFlushed&&
(r.status===1||r.status===3)&&At(e,r),e.parentFlushed&&n.completedBoundaries.push(e),e.status===1)t=e.row,t!==null&&qe(t.
hoistables,e.contentState),je(n,e)||(n.allPendingTasks++,e.fallbackAbortableTasks.forEach(vc,n),e.fallbackAbortableTasks.
clear(),t!==null&&--t.pendingTasks===0&&ln(n,t),n.allPendingTasks--),n.pendingRootTasks===0&&n.trackedPostpones===null&&
e.preamble!==null&&Nt(n);else if(e.status===5&&(e=e.row,e!==null)){if(n.trackedPostpones!==null){t=n.trackedPostpones;var i=e.
next;if(i!==null&&(r=i.boundaries,r!==null))for(i.boundaries=null,i=0;i<r.length;i++){var l=r[i];Ba(n,t,l),Ae(n,l,null,null)}}
n.allPendingTasks++,--e.pendingTasks===0&&ln(n,e),n.allPendingTasks--}}else r===null||!r.parentFlushed||r.status!==1&&r.
status!==3||(At(e,r),e.completedSegments.length===1&&e.parentFlushed&&n.partialBoundaries.push(e)),e=e.row,e!==null&&e.together&&
Ei(n,e);n.allPendingTasks===0&&mr(n)}function za(n){if(!(n.aborted||11<n.status)){var e=Ee,t=Ve.H;Ve.H=$l;var r=Ve.A;Ve.
A=sc;var i=j;j=n;var l=fr;fr=n.resumableState;try{var a=n.pingedTasks,u;for(u=0;u<a.length;u++){var o=a[u],c=n,f=o.blockedSegment;
if(f===null){n:if(o.replay.pendingTasks!==0){var s=c.currentTask;c.currentTask=o,$n(o.context);var d=o.node;try{if(typeof o.
replay.slots=="number"?Mr(c,o,o.replay.slots,o.node,o.childIndex):Ri(c,o),o.replay.pendingTasks===1&&0<o.replay.nodes.length)
throw Error(v(488));o.replay.pendingTasks--,o.abortSet.delete(o),Ae(c,o.blockedBoundary,o.row,null)}catch(U){xt();var h=U===
un?br():U;if(c.aborted){U===un&&(o.thenableState=re()),c.currentTask=s;var g=c;Pr(o,g),o.abortSet.delete(o),Ce(o,g,g.fatalError)}else{
if(typeof h=="object"&&h!==null){if(typeof h.then=="function"){var b=o.ping;h.then(b.resolve,b.reject),o.thenableState=U===
un?re():null;break n}if(h.message==="Maximum call stack size exceeded"&&o.node!==d){o.thenableState=null,c.pingedTasks.push(
o);break n}}o.replay.pendingTasks--,o.abortSet.delete(o);var C=xe(o.componentStack);g=c;var R=o.blockedBoundary,_=c.aborted?
c.fatalError:h,z=o.replay.nodes,L=o.replay.slots,T=Z(g,_,C);kt(g,R,z,L,_,T),c.pendingRootTasks--,c.pendingRootTasks===0&&
zi(c),c.allPendingTasks--,c.allPendingTasks===0&&mr(c)}}finally{c.currentTask=s}}}else n:if(g=f,g.status===0){var P=c.currentTask;
c.currentTask=o,$n(o.context);var O=g.children.length,dn=g.chunks.length,E=o.node;try{Ri(c,o),Tt(g.chunks,c.renderState,
g.lastPushedText,g.textEmbedded),o.abortSet.delete(o),g.status=1,Ae(c,o.blockedBoundary,o.row,g)}catch(U){xt(),g.children.
length=O,g.chunks.length=dn;var H=U===un?br():U;if(c.aborted)U===un&&(o.thenableState=re()),c.currentTask=P,g=c,Pr(o,g),
o.abortSet.delete(o),Ce(o,g,g.fatalError);else{if(typeof H=="object"&&H!==null){if(typeof H.then=="function"){g.status=0,
o.thenableState=U===un?re():null;var D=o.ping;H.then(D.resolve,D.reject);break n}if(H.message==="Maximum call stack size\
 exceeded"&&o.node!==E){g.status=0,o.thenableState=null,c.pingedTasks.push(o);break n}}var X=xe(o.componentStack);o.abortSet.
delete(o),g.status=4;var M=o.blockedBoundary,cn=o.row;if(cn!==null&&--cn.pendingTasks===0&&ln(c,cn),c.allPendingTasks--,
M===null)if(Nr(H)){var Y=Fi(H);Z(c,Y,X),me(c,Y)}else Z(c,H,X),me(c,H);else{var Un=Z(c,H,X);if(M.pendingTasks--,M.status!==
4){M.status=4,M.errorDigest=Un,Di(c,M);var gn=M.row;gn!==null&&(c.allPendingTasks++,--gn.pendingTasks===0&&ln(c,gn),c.allPendingTasks--),
M.parentFlushed&&c.clientRenderedBoundaries.push(M),c.pendingRootTasks===0&&c.trackedPostpones===null&&M.preamble!==null&&
Nt(c)}c.allPendingTasks===0&&mr(c)}}}finally{c.currentTask=P}}}a.splice(0,u),n.destination!==null&&Fr(n,n.destination)}catch(U){
Z(n,U,{}),me(n,U)}finally{fr=l,Ve.H=t,Ve.A=r,t===$l&&$n(e),j=i}}}function hi(n,e,t){e.preambleChildren.length&&t.push(e.
preambleChildren);for(var r=!1,i=0;i<e.children.length;i++)r=Ya(n,e.children[i],t)||r;return r}function Ya(n,e,t){var r=e.
boundary;if(r===null)return hi(n,e,t);var i=r.preamble;if(i===null)return!1;switch(r.status){case 1:if(Gl(n.renderState,
i.content),n.byteSize+=r.byteSize,e=r.completedSegments[0],!e)throw Error(v(391));return hi(n,e,t);case 5:if(n.trackedPostpones!==
null)return!0;case 4:if(e.status===1)return Gl(n.renderState,i.fallback),hi(n,e,t);default:return!0}}function Nt(n){if(n.
completedRootSegment&&n.completedPreambleSegments===null){var e=[],t=n.byteSize,r=Ya(n,n.completedRootSegment,e),i=n.renderState.
preamble;r===!1||i.headChunks&&i.bodyChunks?n.completedPreambleSegments=e:n.byteSize=t}}function ir(n,e,t,r){switch(t.parentFlushed=
!0,t.status){case 0:t.id=n.nextSegmentId++;case 5:return r=t.id,t.lastPushedText=!1,t.textEmbedded=!1,n=n.renderState,e.
push('<template id="'),e.push(n.placeholderPrefix),n=r.toString(16),e.push(n),e.push('"></template>');case 1:t.status=2;
var i=!0,l=t.chunks,a=0;t=t.children;for(var u=0;u<t.length;u++){for(i=t[u];a<i.index;a++)e.push(l[a]);i=St(n,e,i,r)}for(;a<
l.length-1;a++)e.push(l[a]);return a<l.length&&(i=e.push(l[a])),i;case 3:return!0;default:throw Error(v(390))}}var _t=0;
function St(n,e,t,r){var i=t.boundary;if(i===null)return ir(n,e,t,r);if(t.boundary=null,i.parentFlushed=!0,i.status===4){
var l=i.row;return l!==null&&--l.pendingTasks===0&&ln(n,l),n.renderState.generateStaticMarkup||(i=i.errorDigest,e.push("\
<!--$!-->"),e.push("<template"),i!=null&&(e.push(' data-dgst="'),i=w(i),e.push(i),e.push('"')),e.push("></template>")),ir(
n,e,t,r),n=n.renderState.generateStaticMarkup?!0:e.push("<!--/$-->"),n}if(i.status!==1)return i.status===0&&(i.rootSegmentID=
n.nextSegmentId++),0<i.completedSegments.length&&n.partialBoundaries.push(i),Xl(e,n.renderState,i.rootSegmentID),r&&qe(r,
i.fallbackState),ir(n,e,t,r),e.push("<!--/$-->");if(!sr&&je(n,i)&&(_t+i.byteSize>n.progressiveChunkSize||i.defer))return i.
rootSegmentID=n.nextSegmentId++,n.completedBoundaries.push(i),Xl(e,n.renderState,i.rootSegmentID),ir(n,e,t,r),e.push("<!\
--/$-->");if(_t+=i.byteSize,r&&qe(r,i.contentState),t=i.row,t!==null&&je(n,i)&&--t.pendingTasks===0&&ln(n,t),n.renderState.
generateStaticMarkup||e.push("<!--$-->"),t=i.completedSegments,t.length!==1)throw Error(v(391));return St(n,e,t[0],r),n=
n.renderState.generateStaticMarkup?!0:e.push("<!--/$-->"),n}function di(n,e,t,r){return _u(e,n.renderState,t.parentFormatContext,
t.id),St(n,e,t,r),Su(e,t.parentFormatContext)}function oa(n,e,t){_t=t.byteSize;for(var r=t.completedSegments,i=0;i<r.length;i++)
Ua(n,e,t,r[i]);r.length=0,r=t.row,r!==null&&je(n,t)&&--r.pendingTasks===0&&ln(n,r),_a(e,t.contentState,n.renderState),r=
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
push(n.segmentPrefix),e.push(r),l?(e.push('",'),Bu(e,t)):e.push('"'),t=e.push(")</script>"),Aa(e,n)&&t}function Ua(n,e,t,r){
if(r.status===2)return!0;var i=t.contentState,l=r.id;if(l===-1){if((r.id=t.rootSegmentID)===-1)throw Error(v(392));return di(
n,e,r,i)}return l===t.rootSegmentID?di(n,e,r,i):(di(n,e,r,i),t=n.resumableState,n=n.renderState,e.push(n.startInlineScript),
e.push(">"),(t.instructions&1)===0?(t.instructions|=1,e.push('$RS=function(a,b){a=document.getElementById(a);b=document.\
getElementById(b);for(a.parentNode.removeChild(a);a.firstChild;)b.parentNode.insertBefore(a.firstChild,b);b.parentNode.r\
emoveChild(b)};$RS("')):e.push('$RS("'),e.push(n.segmentPrefix),l=l.toString(16),e.push(l),e.push('","'),e.push(n.placeholderPrefix),
e.push(l),e=e.push('")</script>'),e)}var sr=!1;function Fr(n,e){try{if(!(0<n.pendingRootTasks)){var t,r=n.completedRootSegment;
if(r!==null){if(r.status===5)return;var i=n.completedPreambleSegments;if(i===null)return;_t=n.byteSize;var l=n.resumableState,
a=n.renderState,u=a.preamble,o=u.htmlChunks,c=u.headChunks,f;if(o){for(f=0;f<o.length;f++)e.push(o[f]);if(c)for(f=0;f<c.
length;f++)e.push(c[f]);else{var s=W("head");e.push(s),e.push(">")}}else if(c)for(f=0;f<c.length;f++)e.push(c[f]);var d=a.
charsetChunks;for(f=0;f<d.length;f++)e.push(d[f]);d.length=0,a.preconnects.forEach(An,e),a.preconnects.clear();var h=a.viewportChunks;
for(f=0;f<h.length;f++)e.push(h[f]);h.length=0,a.fontPreloads.forEach(An,e),a.fontPreloads.clear(),a.highImagePreloads.forEach(
An,e),a.highImagePreloads.clear(),Ke=a,a.styles.forEach(Lu,e),Ke=null;var g=a.importMapChunks;for(f=0;f<g.length;f++)e.push(
g[f]);g.length=0,a.bootstrapScripts.forEach(An,e),a.scripts.forEach(An,e),a.scripts.clear(),a.bulkPreloads.forEach(An,e),
a.bulkPreloads.clear(),l.instructions|=32;var b=a.hoistableChunks;for(f=0;f<b.length;f++)e.push(b[f]);for(l=b.length=0;l<
i.length;l++){var C=i[l];for(a=0;a<C.length;a++)St(n,e,C[a],null)}var R=n.renderState.preamble,_=R.headChunks;if(R.htmlChunks||
_){var z=Re("head");e.push(z)}var L=R.bodyChunks;if(L)for(i=0;i<L.length;i++)e.push(L[i]);St(n,e,r,null),n.completedRootSegment=
null;var T=n.renderState;if(n.allPendingTasks!==0||n.clientRenderedBoundaries.length!==0||n.completedBoundaries.length!==
0||n.trackedPostpones!==null&&(n.trackedPostpones.rootNodes.length!==0||n.trackedPostpones.rootSlots!==null)){var P=n.resumableState;
if((P.instructions&64)===0){if(P.instructions|=64,e.push(T.startInlineScript),(P.instructions&32)===0){P.instructions|=32;
var O="_"+P.idPrefix+"R_";e.push(' id="');var dn=w(O);e.push(dn),e.push('"')}e.push(">"),e.push("requestAnimationFrame(f\
unction(){$RT=performance.now()});"),e.push("</script>")}}Aa(e,T)}var E=n.renderState;r=0;var H=E.viewportChunks;for(r=0;r<
H.length;r++)e.push(H[r]);H.length=0,E.preconnects.forEach(An,e),E.preconnects.clear(),E.fontPreloads.forEach(An,e),E.fontPreloads.
clear(),E.highImagePreloads.forEach(An,e),E.highImagePreloads.clear(),E.styles.forEach(Du,e),E.scripts.forEach(An,e),E.scripts.
clear(),E.bulkPreloads.forEach(An,e),E.bulkPreloads.clear();var D=E.hoistableChunks;for(r=0;r<D.length;r++)e.push(D[r]);
D.length=0;var X=n.clientRenderedBoundaries;for(t=0;t<X.length;t++){var M=X[t];E=e;var cn=n.resumableState,Y=n.renderState,
Un=M.rootSegmentID,gn=M.errorDigest;E.push(Y.startInlineScript),E.push(">"),(cn.instructions&4)===0?(cn.instructions|=4,
E.push('$RX=function(b,c,d,e,f){var a=document.getElementById(b);a&&(b=a.previousSibling,b.data="$!",a=a.dataset,null!=c\
&&(a.dgst=c),d&&(a.msg=d),e&&(a.stck=e),f&&(a.cstck=f),b._reactRetry&&b._reactRetry())};;$RX("')):E.push('$RX("'),E.push(
Y.boundaryPrefix);var U=Un.toString(16);if(E.push(U),E.push('"'),gn!=null)if(E.push(","),gn==null)E.push("null");else{var ae=Nu(
gn);E.push(ae)}var Q=E.push(")</script>");if(!Q){n.destination=null,t++,X.splice(0,t);return}}X.splice(0,t);var Sn=n.completedBoundaries;
for(t=0;t<Sn.length;t++)if(!oa(n,e,Sn[t])){n.destination=null,t++,Sn.splice(0,t);return}Sn.splice(0,t),sr=!0;var J=n.partialBoundaries;
for(t=0;t<J.length;t++){var Tn=J[t];n:{X=n,M=e,_t=Tn.byteSize;var Rn=Tn.completedSegments;for(Q=0;Q<Rn.length;Q++)if(!Ua(
X,M,Tn,Rn[Q])){Q++,Rn.splice(0,Q);var kn=!1;break n}Rn.splice(0,Q);var I=Tn.row;I!==null&&I.together&&Tn.pendingTasks===
1&&(I.pendingTasks===1?Hi(X,I,I.hoistables):I.pendingTasks--),kn=_a(M,Tn.contentState,X.renderState)}if(!kn){n.destination=
null,t++,J.splice(0,t);return}}J.splice(0,t),sr=!1;var Ln=n.completedBoundaries;for(t=0;t<Ln.length;t++)if(!oa(n,e,Ln[t])){
n.destination=null,t++,Ln.splice(0,t);return}Ln.splice(0,t)}}finally{sr=!1,t=n.postponedState,t!==null&&(t.nextSegmentId=
n.nextSegmentId),n.allPendingTasks===0&&n.clientRenderedBoundaries.length===0&&n.completedBoundaries.length===0&&(n.flushScheduled=
!1,t=n.resumableState,t.hasBody&&(J=Re("body"),e.push(J)),t.hasHtml&&(t=Re("html"),e.push(t)),Yi(n),n.status=13,e.push(null),
n.destination=null)}}function _e(n){if(n.flushScheduled===!1&&n.pingedTasks.length===0&&n.destination!==null){n.flushScheduled=
!0;var e=n.destination;e?Fr(n,e):n.flushScheduled=!1}}function yc(n,e){if(n.status===12)n.status=13,n=n.fatalError,Nr(n)&&
(n=Fi(n)),e.destroy(n);else if(n.status!==13&&n.destination===null){n.destination=e;try{Fr(n,e)}catch(t){Z(n,t,{}),me(n,
t)}}}function bc(n,e){try{if(0<e.size){var t=n.fatalError;e.forEach(function(r){return Ce(r,n,t)}),e.clear()}n.destination!==
null&&Fr(n,n.destination)}catch(r){Z(n,r,{}),me(n,r)}}function Yi(n){n=n.renderLifetimeController,n!==null&&n.abort("The\
 render ended.")}function pc(n,e){if(!(n.aborted||n.status!==11&&n.status!==10)){Yi(n);var t=typeof e=="object"&&e!==null&&
e.$$typeof===Sr;n.aborted=!0,e=t?Fa(e):e===void 0?Error(v(432)):typeof e=="object"&&e!==null&&typeof e.then=="function"?
Error(v(530)):e,n.fatalError=e,e=n.abortableTasks,e.forEach(function(r){return Pr(r,n)}),bc(n,e)}}function xr(n,e,t){if(e===
null)t.rootNodes.push(n);else{var r=t.workingMap,i=r.get(e);i===void 0&&(i=[e[1],e[2],[],null],r.set(e,i),xr(i,e[0],t)),
i[2].push(n)}}function Tc(){}function Wa(n,e,t,r){var i=!1,l=null,a="",u=!1;if(e=mu(e?e.identifierPrefix:void 0),n=gc(n,
e,Ku(e,t),q(0,null,0,null),1/0,Tc,void 0,void 0,function(){u=!0},void 0,void 0,void 0),n.flushScheduled=n.destination!==
null,za(n),n.status===10&&(n.status=11),n.trackedPostpones===null&&Bi(n,n.pendingRootTasks===0),pc(n,r),yc(n,{push:function(o){
return o!==null&&(a+=o),!0},destroy:function(o){i=!0,l=o}}),i&&l!==r)throw l;if(!u)throw Error(v(426));return a}Ir.renderToStaticMarkup=
function(n,e){return Wa(n,e,!0,'The server used "renderToStaticMarkup" which does not support Suspense. If you intended \
to have the server wait for the suspended component please switch to "renderToReadableStream" which supports Suspense on\
 the server')};Ir.renderToString=function(n,e){return Wa(n,e,!1,'The server used "renderToString" which does not support\
 Suspense. If you intended for this Suspense boundary to render the fallback content on the server consider throwing an \
Error somewhere within the Suspense boundary. If you intended to have the server wait for the suspended component please\
 switch to "renderToReadableStream" which supports Suspense on the server')};Ir.version="19.3.1"});var Qa=Te(Lr=>{"use strict";var Ec=Symbol.for("react.transitional.element"),Rc=Symbol.for("react.fragment");function Va(n,e,t){
var r=null;if(t!==void 0&&(r=""+t),e.key!==void 0&&(r=""+e.key),"key"in e){t={};for(var i in e)i!=="key"&&(t[i]=e[i])}else
t=e;return e=t.ref,{$$typeof:Ec,type:n,key:r,ref:e!==void 0?e:null,props:t}}Lr.Fragment=Rc;Lr.jsx=Va;Lr.jsxs=Va});var A=Te((Wc,Ja)=>{"use strict";Ja.exports=Qa()});var Oo=p(vn(),1),Mo=p(Ga(),1);var wc=Symbol.for("react-email.element"),hn=(n,e={})=>{n[wc]=e};var Xa=["margin","marginTop","marginBottom","marginRight","marginLeft","marginInline","marginBlock","marginBlockStart","\
marginBlockEnd","marginInlineStart","marginInlineEnd"],Za=["padding","paddingTop","paddingBottom","paddingRight","paddin\
gLeft","paddingInline","paddingBlock","paddingBlockStart","paddingBlockEnd","paddingInlineStart","paddingInlineEnd"];var Ka=p(vn(),1),$e=p(A(),1),Ot=Ka.forwardRef(({children:n,style:e,...t},r)=>{let i={background:e?.background,backgroundColor:e?.
backgroundColor};if(e)for(let l of[...Xa,...Za])i[l]=e[l]!==void 0?0:void 0;return(0,$e.jsx)("body",{...t,dir:t.dir??"lt\
r",lang:t.lang??"en",style:i,ref:r,children:(0,$e.jsx)("table",{border:0,width:"100%",cellPadding:"0",cellSpacing:"0",role:"\
presentation",align:"center",children:(0,$e.jsx)("tbody",{children:(0,$e.jsx)("tr",{children:(0,$e.jsx)("td",{dir:t.dir??
"ltr",lang:t.lang??"en",style:e,children:n})})})})})});Ot.displayName="Body";hn(Ot);function Hr(n){let e=0;if(n===void 0||n==="")return;if(typeof n=="number")return n;let t=/^([\d.]+)(px|em|rem|%)$/.exec(
n);if(t&&t.length===3){let r=Number.parseFloat(t[1]);switch(t[2]){case"px":return r;case"em":case"rem":return e=r*16,e;case"\
%":return e=r/100*600,e;default:return r}}return 0}function Pc(n){if(typeof n=="number")return{paddingTop:n,paddingBottom:n,
paddingLeft:n,paddingRight:n};if(typeof n=="string"){let e=n.toString().trim().split(/\s+/);if(e.length===1)return{paddingTop:e[0],
paddingBottom:e[0],paddingLeft:e[0],paddingRight:e[0]};if(e.length===2)return{paddingTop:e[0],paddingRight:e[1],paddingBottom:e[0],
paddingLeft:e[1]};if(e.length===3)return{paddingTop:e[0],paddingRight:e[1],paddingBottom:e[2],paddingLeft:e[1]};if(e.length===
4)return{paddingTop:e[0],paddingRight:e[1],paddingBottom:e[2],paddingLeft:e[3]}}return{paddingTop:void 0,paddingBottom:void 0,
paddingLeft:void 0,paddingRight:void 0}}function qa(n){let e,t,r,i;for(let[l,a]of Object.entries(n))l==="padding"?{paddingTop:e,
paddingBottom:r,paddingLeft:i,paddingRight:t}=Pc(a):l==="paddingTop"?e=a:l==="paddingRight"?t=a:l==="paddingBottom"?r=a:
l==="paddingLeft"&&(i=a);return{paddingTop:Hr(e),paddingRight:Hr(t),paddingBottom:Hr(r),paddingLeft:Hr(i)}}var Ui=n=>typeof n=="number"&&!Number.isNaN(Number(n))?n*3/4:void 0;var $a=p(vn(),1),nt=p(A(),1),mc=5;function ja(n){if(n===0)return[0,0];let e=0,t=()=>e>0?n/e/2:Number.POSITIVE_INFINITY;for(;t()>
mc;)e++;return[t(),e]}var Mt=$a.forwardRef(({children:n,style:e,target:t="_blank",...r},i)=>{let{paddingTop:l,paddingRight:a,
paddingBottom:u,paddingLeft:o}=qa(e??{}),c=Ui((l??0)+(u??0)),[f,s]=ja(o??0),[d,h]=ja(a??0);return(0,nt.jsxs)("a",{...r,ref:i,
style:{lineHeight:"100%",textDecoration:"none",display:"inline-block",maxWidth:"100%",msoPaddingAlt:"0px",...e,paddingTop:l,
paddingRight:a,paddingBottom:u,paddingLeft:o},target:t,children:[(0,nt.jsx)("span",{dangerouslySetInnerHTML:{__html:`<!-\
-[if mso]><i style="mso-font-width:${f*100}%;mso-text-raise:${c}px" hidden>${"&#8202;".repeat(s)}</i><![endif]-->`}}),(0,nt.jsx)(
"span",{style:{maxWidth:"100%",display:"inline-block",lineHeight:"120%",msoPaddingAlt:"0px",msoTextRaise:Ui(u)},children:n}),
(0,nt.jsx)("span",{dangerouslySetInnerHTML:{__html:`<!--[if mso]><i style="mso-font-width:${d*100}%" hidden>${"&#8202;".
repeat(h)}&#8203;</i><![endif]-->`}})]})});Mt.displayName="Button";hn(Mt);var no=p(vn(),1),Ft=p(A(),1),It=no.forwardRef(({children:n,style:e={},tdClassName:t,...r},i)=>{let l={},a={},u=e;for(let o in u){
if(!Object.hasOwn(u,o))continue;let c=u[o];o.startsWith("padding")?l[o]=c:a[o]=c}return(0,Ft.jsx)("table",{align:"center",
width:"100%",...r,border:0,cellPadding:"0",cellSpacing:"0",ref:i,role:"presentation",style:{maxWidth:"37.5em",...a},children:(0,Ft.jsx)(
"tbody",{children:(0,Ft.jsx)("tr",{style:{width:"100%"},children:(0,Ft.jsx)("td",{className:t,style:l,children:n})})})})});
It.displayName="Container";hn(It,{resolveTailwind(n,{style:e,className:t,classProperties:r}){let i=[],l=n.tdClassName?[n.
tdClassName]:[];for(let a of t?.split(" ")??[]){let u=r[a];u&&u.length>0&&u.every(o=>o.startsWith("padding"))?l.push(a):
i.push(a)}return{...n,style:e,className:i.length>0?i.join(" "):void 0,tdClassName:l.length>0?l.join(" "):void 0}}});var eo=p(vn(),1),Lt=p(A(),1),Dr=eo.forwardRef(({children:n,...e},t)=>(0,Lt.jsxs)("head",{...e,ref:t,children:[(0,Lt.jsx)(
"meta",{content:"text/html; charset=UTF-8",httpEquiv:"Content-Type"}),(0,Lt.jsx)("meta",{name:"x-apple-disable-message-r\
eformatting"}),n]}));Dr.displayName="Head";var to=n=>{let e=[Se(n.m,["margin"]),Se(n.mx,["marginLeft","marginRight"]),Se(n.my,["marginTop","marginBottom"]),Se(n.mt,
["marginTop"]),Se(n.mr,["marginRight"]),Se(n.mb,["marginBottom"]),Se(n.ml,["marginLeft"])],t={};for(let r of e)Object.keys(
r).length>0&&Object.assign(t,r);return t},Se=(n,e)=>{let t={};if(n===void 0||Number.isNaN(Number.parseFloat(String(n))))
return t;for(let r of e)t[r]=`${n}px`;return t};var ro=p(vn(),1),io=p(A(),1),Ht=ro.forwardRef(({as:n="h1",children:e,style:t,m:r,mx:i,my:l,mt:a,mr:u,mb:o,ml:c,...f},s)=>(0,io.jsx)(
n,{...f,ref:s,style:{...to({m:r,mx:i,my:l,mt:a,mr:u,mb:o,ml:c}),...t},children:e}));Ht.displayName="Heading";hn(Ht);var lo=p(vn(),1),ao=p(A(),1),Br=lo.forwardRef(({children:n,lang:e="en",dir:t="ltr",...r},i)=>(0,ao.jsx)("html",{...r,dir:t,
lang:e,ref:i,children:n}));Br.displayName="Html";var oo=p(vn(),1),ie=p(A(),1),Wi=200,Dt=oo.forwardRef(({children:n="",useTitleTag:e=!0,...t},r)=>{let i=(Array.isArray(n)?
n.join(""):n).substring(0,Wi);return(0,ie.jsxs)(ie.Fragment,{children:[e?(0,ie.jsx)("title",{children:i}):null,(0,ie.jsxs)(
"div",{style:{display:"none",overflow:"hidden",lineHeight:"1px",opacity:0,maxHeight:0,maxWidth:0},"data-skip-in-text":!0,
...t,ref:r,children:[i,uo(i)]})]})});Dt.displayName="Preview";hn(Dt);var xc="\xA0\u200C\u200B\u200D\uFEFF",uo=n=>n.length>=
Wi?null:(0,ie.jsx)("div",{children:xc.repeat(Wi-n.length)});var co=p(vn(),1),Bt=p(A(),1),zt=co.forwardRef(({children:n,style:e={},tdClassName:t,...r},i)=>{let l={},a={},u=e;for(let o in u){
if(!Object.hasOwn(u,o))continue;let c=u[o];o.startsWith("padding")?l[o]=c:a[o]=c}return(0,Bt.jsx)("table",{align:"center",
width:"100%",border:0,cellPadding:"0",cellSpacing:"0",role:"presentation",...r,ref:i,style:a,children:(0,Bt.jsx)("tbody",
{children:(0,Bt.jsx)("tr",{children:(0,Bt.jsx)("td",{className:t,style:l,children:n})})})})});zt.displayName="Section";hn(
zt,{resolveTailwind(n,{style:e,className:t,classProperties:r}){let i=[],l=n.tdClassName?[n.tdClassName]:[];for(let a of t?.
split(" ")??[]){let u=r[a];u&&u.length>0&&u.every(o=>o.startsWith("padding"))?l.push(a):i.push(a)}return{...n,style:e,className:i.
length>0?i.join(" "):void 0,tdClassName:l.length>0?l.join(" "):void 0}}});function Cc(n){if(typeof n=="number")return{marginTop:n,marginBottom:n,marginLeft:n,marginRight:n};if(typeof n=="string"){
let e=n.toString().trim().split(/\s+/);if(e.length===1)return{marginTop:e[0],marginBottom:e[0],marginLeft:e[0],marginRight:e[0]};
if(e.length===2)return{marginTop:e[0],marginRight:e[1],marginBottom:e[0],marginLeft:e[1]};if(e.length===3)return{marginTop:e[0],
marginRight:e[1],marginBottom:e[2],marginLeft:e[1]};if(e.length===4)return{marginTop:e[0],marginRight:e[1],marginBottom:e[2],
marginLeft:e[3]}}return{marginTop:void 0,marginBottom:void 0,marginLeft:void 0,marginRight:void 0}}function fo(n){let e={
marginTop:void 0,marginRight:void 0,marginBottom:void 0,marginLeft:void 0};for(let[t,r]of Object.entries(n))t==="margin"?
e=Cc(r):t==="marginTop"?e.marginTop=r:t==="marginRight"?e.marginRight=r:t==="marginBottom"?e.marginBottom=r:t==="marginL\
eft"&&(e.marginLeft=r);return e}var so=p(vn(),1),ho=p(A(),1),ke=so.forwardRef(({style:n,...e},t)=>{let r={};n?.marginTop===void 0&&(r.marginTop="16px"),
n?.marginBottom===void 0&&(r.marginBottom="16px");let i=fo({...r,...n});return(0,ho.jsx)("p",{...e,ref:t,style:{fontSize:"\
14px",lineHeight:"24px",...n,...i}})});ke.displayName="Text";hn(ke);var In={page:"#f4f4f5",card:"#ffffff",border:"#e4e4e7",text:"#18181b",muted:"#52525b",action:"#1d4ed8",onAction:"#ffffff"},
et={page:"#18181b",card:"#27272a",border:"#3f3f46",text:"#f4f4f5",muted:"#c4c4cc"},Ne={fontFamily:"-apple-system, BlinkM\
acSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",fontSize:"16px",lineHeight:"24px",color:In.text},Ac={wordBreak:"\
break-word",overflowWrap:"anywhere"},_n={page:{...Ne,...Ac,margin:"0",padding:"24px 8px",backgroundColor:In.page},card:{
maxWidth:"560px",padding:"28px 20px",backgroundColor:In.card,border:`1px solid ${In.border}`,borderRadius:"8px"},heading:{
...Ne,margin:"0 0 20px",fontSize:"22px",lineHeight:"28px",fontWeight:600},text:{...Ne,margin:"0 0 16px"},details:{width:"\
100%",margin:"0 0 24px",borderCollapse:"collapse",tableLayout:"fixed"},label:{...Ne,width:"36%",padding:"10px 12px 10px \
0",borderTop:`1px solid ${In.border}`,color:In.muted,fontSize:"14px",fontWeight:400,textAlign:"left",verticalAlign:"top"},
value:{...Ne,fontSize:"15px",padding:"10px 0",borderTop:`1px solid ${In.border}`,verticalAlign:"top"},action:{...Ne,padding:"\
12px 20px",borderRadius:"6px",backgroundColor:In.action,color:In.onAction,fontWeight:600},note:{...Ne,margin:"24px 0 0",
color:In.muted,fontSize:"14px",lineHeight:"20px"}},$={page:"dark-page",card:"dark-card",text:"dark-text",muted:"dark-mut\
ed",line:"dark-line"},go=`
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .${$.page}, .${$.page} > table > tbody > tr > td { background-color: ${et.page} !important; }
  .${$.card} { background-color: ${et.card} !important; border-color: ${et.border} !important; }
  .${$.text} { color: ${et.text} !important; }
  .${$.muted} { color: ${et.muted} !important; }
  .${$.line} { border-color: ${et.border} !important; }
}`;var m=p(A(),1);function V({subject:n,preview:e,heading:t,displayName:r,body:i,details:l,action:a,note:u}){return(0,m.jsxs)(
Br,{lang:"en",children:[(0,m.jsxs)(Dr,{children:[(0,m.jsx)("meta",{name:"viewport",content:"width=device-width, initial-\
scale=1"}),(0,m.jsx)("meta",{name:"color-scheme",content:"light dark"}),(0,m.jsx)("meta",{name:"supported-color-schemes",
content:"light dark"}),(0,m.jsx)("title",{children:n}),(0,m.jsx)("style",{children:go})]}),(0,m.jsxs)(Ot,{className:$.page,
style:_n.page,children:[(0,m.jsx)(Dt,{useTitleTag:!1,children:e}),(0,m.jsxs)(It,{className:$.card,style:_n.card,children:[
(0,m.jsx)(Ht,{className:$.text,style:_n.heading,children:t}),(0,m.jsx)(ke,{className:$.text,style:_n.text,children:(0,m.jsx)(
_c,{name:r.trim()})}),(0,m.jsx)(ke,{className:$.text,style:_n.text,children:i}),(0,m.jsx)(Sc,{details:l}),(0,m.jsx)(zt,{
children:(0,m.jsx)(Mt,{href:kc(a.url),style:_n.action,children:a.label})}),(0,m.jsx)(ke,{className:$.muted,style:_n.note,
children:u})]})]})]})}function _c({name:n}){return n===""?"Hello,":(0,m.jsxs)(m.Fragment,{children:["Hello ",(0,m.jsx)("\
bdi",{children:n}),","]})}function Sc({details:n}){return(0,m.jsx)("table",{width:"100%",cellPadding:"0",cellSpacing:"0",
style:_n.details,children:(0,m.jsx)("tbody",{children:n.map(({label:e,value:t})=>(0,m.jsxs)("tr",{children:[(0,m.jsx)("t\
h",{scope:"row",className:`${$.muted} ${$.line}`,style:_n.label,children:e}),(0,m.jsx)("td",{className:`${$.text} ${$.line}`,
style:_n.value,children:(0,m.jsx)("bdi",{children:t})})]},e))})})}function kc(n){if(!/^https?:$/.test(new URL(n).protocol))
throw new Error("A mail links to http(s) addresses only");return n}var yo=p(A(),1);function Gi({displayName:n,planName:e,amount:t,reason:r,retryUrl:i}){return{subject:`Your payment for th\
e ${e} plan failed`,preview:`${t} could not be charged. You can try again.`,heading:"Payment failed",displayName:n,body:"\
Your payment did not go through. This attempt has not changed your subscription, and you can try again.",details:[{label:"\
Plan",value:e},{label:"Amount",value:t},...r?.trim()?[{label:"Reason",value:r}]:[]],action:{label:"Try again",url:i},note:"\
If you have paid since with another attempt, there is nothing left to do."}}function vo(n){return(0,yo.jsx)(V,{...Gi(n)})}
vo.PreviewProps={displayName:"Asha Rao",planName:"Pro",amount:"\u20B9999.00",reason:"Your payment was declined by the ba\
nk. Try another payment method.",retryUrl:"https://app.example.com/pricing"};var zr="You also have other access, which is not affected.";function Yr({planName:n,accessEndsOn:e}){return[{label:"Plan",
value:n},...e===null?[]:[{label:"Without a payment",value:`Access until ${e}`}]]}function Ur({manageUrl:n,pricingUrl:e}){
return n===null?{label:"See the plans",url:e}:{label:"Manage your payment",url:n}}var po=p(A(),1);function Xi(n){let{displayName:e,planName:t,accessEndsOn:r}=n,i=r===null?zr:`If no payment succeeds, you\
r access ends on ${r}.`;return{subject:`Your ${t} plan could not be renewed yet`,preview:"The payment did not go through\
. It will be tried again automatically.",heading:"Your plan could not be renewed yet",displayName:e,body:`The payment fo\
r the next period of your ${t} plan did not go through. It will be tried again automatically over the next few days. Ple\
ase check that your payment method works. ${i}`,details:Yr(n),action:Ur(n),note:"If you have paid since, there is nothin\
g left to do."}}function bo(n){return(0,po.jsx)(V,{...Xi(n)})}bo.PreviewProps={displayName:"Asha Rao",planName:"Pro",accessEndsOn:"\
20 November 2027",manageUrl:"https://gateway.example.com/s/29QQoUBi66xm2f",pricingUrl:"https://app.example.com/pricing"};function Wr({planName:n,amount:e,validUntil:t,nextPaymentOn:r,transactionId:i}){return[{label:"Plan",value:n},{label:"Am\
ount paid",value:e},{label:"Valid until",value:t},...r===void 0?[]:[{label:"Next payment",value:r}],{label:"Transaction \
ID",value:i}]}var Gr="Keep this e-mail for your records. If you have a question about this payment, quote the transactio\
n ID.";var wo=p(A(),1);function Zi(n){let{displayName:e,planName:t,amount:r,validUntil:i,dashboardUrl:l}=n;return{subject:`Paym\
ent received: your ${t} plan is active`,preview:`${r} paid. Your plan is valid until ${i}.`,heading:"Payment received",displayName:e,
body:"Thank you. We have received your payment, and your plan is active.",details:Wr(n),action:{label:"Open your dashboa\
rd",url:l},note:Gr}}function To(n){return(0,wo.jsx)(V,{...Zi(n)})}To.PreviewProps={displayName:"Asha Rao",planName:"Pro",
amount:"\u20B9999.00",transactionId:"pay_29QQoUBi66xm2f",validUntil:"20 November 2027",dashboardUrl:"https://app.example\
.com/dashboard"};function Eo({heading:n,displayName:e,body:t,details:r,action:i,note:l}){let a=e.trim();return`${[n,a===""?"Hello,":`Hell\
o ${a},`,t,r.map(({label:o,value:c})=>`${o}: ${c}`).join(`
`),`${i.label}: ${i.url}`,l].join(`

`)}
`}var Po=p(A(),1);function Vi({displayName:n,planName:e,endsOn:t,accessEndsOn:r,pricingUrl:i}){return{subject:`Your ${e} s\
ubscription is complete`,preview:`The last payment was made. The plan is paid until ${t}.`,heading:"Your subscription is\
 complete",displayName:n,body:`The last payment of your ${e} subscription was made. Nothing more will be charged for it.\
 The plan is paid until ${t}. ${Nc(t,r)} You can choose a plan again on that day or later.`,details:[{label:"Plan",value:e},
{label:"Paid until",value:t}],action:{label:"See the plans",url:i},note:"If you have bought a plan since, or do not want\
 to go on, there is nothing left to do."}}function Nc(n,e){return e===null?"After that, your other access continues.":e===
n?"After that, your access ends.":`Your access ends on ${e}.`}function Ro(n){return(0,Po.jsx)(V,{...Vi(n)})}Ro.PreviewProps=
{displayName:"Asha Rao",planName:"Pro",endsOn:"20 November 2027",accessEndsOn:"20 November 2027",pricingUrl:"https://app\
.example.com/pricing"};var xo=p(A(),1);function Qi({displayName:n,planName:e,endsOn:t,pricingUrl:r}){return{subject:`Your ${e} plan has ended`,
preview:`Your access ended on ${t}.`,heading:"Your access has ended",displayName:n,body:`Your access to the ${e} plan en\
ded on ${t}. You can come back at any time.`,details:[{label:"Plan",value:e},{label:"Ended on",value:t}],action:{label:"\
See the plans",url:r},note:"If you have bought a plan since, there is nothing left to do."}}function mo(n){return(0,xo.jsx)(
V,{...Qi(n)})}mo.PreviewProps={displayName:"Asha Rao",planName:"Pro",endsOn:"20 November 2027",pricingUrl:"https://app.e\
xample.com/pricing"};var Ao=p(A(),1);function Ji({displayName:n,planName:e,endsOn:t,pricingUrl:r,earlyRenewal:i}){let{preview:l,advice:a,action:u}=Oc[i];
return{subject:`Your ${e} plan ends on ${t}`,preview:l,heading:"Your access ends soon",displayName:n,body:`Your plan is \
valid until ${t}. After that your access ends. ${a}`,details:[{label:"Plan",value:e},{label:"Valid until",value:t}],action:{
label:u,url:r},note:"If you have bought a plan since, or do not want to go on, there is nothing left to do."}}var Oc={replace:{
preview:"You can buy it again on that day or later.",advice:"You can buy the plan again on that day or later. A purchase\
 before then starts a new period at once, and the days that are left are not added to it.",action:"See the plans"},extend:{
preview:"If you renew it before then, you lose no day.",advice:"To keep your access, renew your plan before then: the ne\
w period is added to this one, and you lose no day.",action:"Renew your plan"}};function Co(n){return(0,Ao.jsx)(V,{...Ji(
n)})}Co.PreviewProps={displayName:"Asha Rao",planName:"Pro",endsOn:"20 November 2027",pricingUrl:"https://app.example.co\
m/pricing",earlyRenewal:"replace"};var So=p(A(),1);function Ki(n){let{displayName:e,planName:t,accessEndsOn:r,manageUrl:i}=n,l=r===null?zr:`Without a payme\
nt, your access lasts until ${r}.`,a=i===null?"To continue, choose a plan again.":"To continue, pay or change your payme\
nt method.";return{subject:`Your ${t} plan could not be renewed`,preview:"The payment did not go through. It will not be\
 tried again automatically.",heading:"Your plan could not be renewed",displayName:e,body:`The payment for the next perio\
d of your ${t} plan did not go through, and all further attempts failed. It will not be tried again automatically. ${l} ${a}`,
details:Yr(n),action:Ur(n),note:"If you have paid since, or do not want to go on, there is nothing left to do."}}function _o(n){
return(0,So.jsx)(V,{...Ki(n)})}_o.PreviewProps={displayName:"Asha Rao",planName:"Pro",accessEndsOn:"20 November 2027",manageUrl:"\
https://gateway.example.com/s/29QQoUBi66xm2f",pricingUrl:"https://app.example.com/pricing"};var No=p(A(),1);function qi(n){let{displayName:e,planName:t,amount:r,validUntil:i,dashboardUrl:l}=n;return{subject:`Your\
 ${t} plan has been renewed`,preview:`${r} paid. Your plan is valid until ${i}.`,heading:"Your plan has been renewed",displayName:e,
body:"Thank you. We have received your payment, and your plan has been renewed.",details:Wr(n),action:{label:"Open your \
dashboard",url:l},note:Gr}}function ko(n){return(0,No.jsx)(V,{...qi(n)})}ko.PreviewProps={displayName:"Asha Rao",planName:"\
Pro",amount:"\u20B9999.00",transactionId:"pay_29QQoUBi66xm2f",validUntil:"20 November 2027",nextPaymentOn:"20 November 2\
027",dashboardUrl:"https://app.example.com/dashboard"};var fs={paymentSuccess:n=>le(Zi(n)),paymentFailed:n=>le(Gi(n)),paymentPending:n=>le(Xi(n)),subscriptionRenewed:n=>le(qi(
n)),subscriptionHalted:n=>le(Ki(n)),subscriptionCompleted:n=>le(Vi(n)),subscriptionEnding:n=>le(Ji(n)),subscriptionEnded:n=>le(
Qi(n))},Mc='<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-trans\
itional.dtd">';function le(n){return{subject:n.subject.replace(/[\s\p{Cc}]+/gu," "),html:Mc+(0,Mo.renderToStaticMarkup)(
(0,Oo.createElement)(V,n)),text:Eo(n)}}export{fs as mails};
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
