// GENERATED from emails/ by `npm run generate`. DO NOT EDIT.
// @ts-self-types="./emails.d.ts"
var wo=Object.create;var tl=Object.defineProperty;var xo=Object.getOwnPropertyDescriptor;var Ro=Object.getOwnPropertyNames;var Po=Object.getPrototypeOf,mo=Object.prototype.hasOwnProperty;var Te=(n,e)=>()=>{try{return e||n((e={exports:{}}).exports,e),e.exports}catch(t){throw e=0,t}};var Co=(n,e,t,r)=>{if(e&&typeof e=="object"||typeof e=="function")for(let i of Ro(e))!mo.call(n,i)&&i!==t&&tl(n,i,{get:()=>e[i],
enumerable:!(r=xo(e,i))||r.enumerable});return n};var R=(n,e,t)=>(t=n!=null?wo(Po(n)):{},Co(e||!n||!n.__esModule?tl(t,"default",{value:n,enumerable:!0}):t,n));var vl=Te(y=>{"use strict";var jr=Symbol.for("react.transitional.element"),_o=Symbol.for("react.portal"),Ao=Symbol.for("\
react.fragment"),So=Symbol.for("react.strict_mode"),ko=Symbol.for("react.profiler"),Oo=Symbol.for("react.consumer"),Mo=Symbol.
for("react.context"),Fo=Symbol.for("react.forward_ref"),No=Symbol.for("react.suspense"),Io=Symbol.for("react.memo"),ol=Symbol.
for("react.lazy"),Lo=Symbol.for("react.activity"),Ho=Symbol.for("react.view_transition"),rl=Symbol.iterator;function Do(n){
return n===null||typeof n!="object"?null:(n=rl&&n[rl]||n["@@iterator"],typeof n=="function"?n:null)}var ul={isMounted:function(){
return!1},enqueueForceUpdate:function(){},enqueueReplaceState:function(){},enqueueSetState:function(){}},fl=Object.assign,
cl={};function Xe(n,e,t){this.props=n,this.context=e,this.refs=cl,this.updater=t||ul}Xe.prototype.isReactComponent={};Xe.
prototype.setState=function(n,e){if(typeof n!="object"&&typeof n!="function"&&n!=null)throw Error("takes an object of st\
ate variables to update or a function which returns an object of state variables.");this.updater.enqueueSetState(this,n,
e,"setState")};Xe.prototype.forceUpdate=function(n){this.updater.enqueueForceUpdate(this,n,"forceUpdate")};function hl(){}
hl.prototype=Xe.prototype;function $r(n,e,t){this.props=n,this.context=e,this.refs=cl,this.updater=t||ul}var ni=$r.prototype=
new hl;ni.constructor=$r;fl(ni,Xe.prototype);ni.isPureReactComponent=!0;var il=Array.isArray;function qr(){}var S={H:null,
A:null,T:null,S:null},sl=Object.prototype.hasOwnProperty;function ei(n,e,t){var r=t.ref;return{$$typeof:jr,type:n,key:e,
ref:r!==void 0?r:null,props:t}}function Bo(n,e){return ei(n.type,e,n.props)}function ti(n){return typeof n=="object"&&n!==
null&&n.$$typeof===jr}function zo(n){var e={"=":"=0",":":"=2"};return"$"+n.replace(/[=:]/g,function(t){return e[t]})}var ll=/\/+/g;
function Kr(n,e){return typeof n=="object"&&n!==null&&n.key!=null?zo(""+n.key):e.toString(36)}function Yo(n){switch(n.status){case"\
fulfilled":return n.value;case"rejected":throw n.reason;default:switch(typeof n.status=="string"?n.then(qr,qr):(n.status=
"pending",n.then(function(e){n.status==="pending"&&(n.status="fulfilled",n.value=e)},function(e){n.status==="pending"&&(n.
status="rejected",n.reason=e)})),n.status){case"fulfilled":return n.value;case"rejected":throw n.reason}}throw n}function Ge(n,e,t,r,i){
var l=typeof n;(l==="undefined"||l==="boolean")&&(n=null);var a=!1;if(n===null)a=!0;else switch(l){case"bigint":case"str\
ing":case"number":a=!0;break;case"object":switch(n.$$typeof){case jr:case _o:a=!0;break;case ol:return a=n._init,Ge(a(n.
_payload),e,t,r,i)}}if(a)return i=i(n),a=r===""?"."+Kr(n,0):r,il(i)?(t="",a!=null&&(t=a.replace(ll,"$&/")+"/"),Ge(i,e,t,
"",function(f){return f})):i!=null&&(ti(i)&&(i=Bo(i,t+(i.key==null||n&&n.key===i.key?"":(""+i.key).replace(ll,"$&/")+"/")+
a)),e.push(i)),1;a=0;var u=r===""?".":r+":";if(il(n))for(var o=0;o<n.length;o++)r=n[o],l=u+Kr(r,o),a+=Ge(r,e,t,l,i);else if(o=
Do(n),typeof o=="function")for(n=o.call(n),o=0;!(r=n.next()).done;)r=r.value,l=u+Kr(r,o++),a+=Ge(r,e,t,l,i);else if(l===
"object"){if(typeof n.then=="function")return Ge(Yo(n),e,t,r,i);throw e=String(n),Error("Objects are not valid as a Reac\
t child (found: "+(e==="[object Object]"?"object with keys {"+Object.keys(n).join(", ")+"}":e)+"). If you meant to rende\
r a collection of children, use an array instead.")}return a}function $t(n,e,t){if(n==null)return n;var r=[],i=0;return Ge(
n,r,"","",function(l){return e.call(t,l,i++)}),r}function Wo(n){if(n._status===-1){var e=n._result,t=e();t.then(function(r){
(n._status===0||n._status===-1)&&(n._status=1,n._result=r,t.status===void 0&&(t.status="fulfilled",t.value=r))},function(r){
(n._status===0||n._status===-1)&&(n._status=2,n._result=r,t.status===void 0&&(t.status="rejected",t.reason=r))}),n._status===
-1&&(n._status=0,n._result=t)}if(n._status===1)return n._result.default;throw n._result}var al=typeof reportError=="func\
tion"?reportError:function(n){if(typeof window=="object"&&typeof window.ErrorEvent=="function"){var e=new window.ErrorEvent(
"error",{bubbles:!0,cancelable:!0,message:typeof n=="object"&&n!==null&&typeof n.message=="string"?String(n.message):String(
n),error:n});if(!window.dispatchEvent(e))return}else if(typeof process=="object"&&typeof process.emit=="function"){process.
emit("uncaughtException",n);return}console.error(n)};function dl(n){var e=S.T,t={};t.types=e!==null?e.types:null,S.T=t;try{
var r=n(),i=S.S;i!==null&&i(t,r),typeof r=="object"&&r!==null&&typeof r.then=="function"&&r.then(qr,al)}catch(l){al(l)}finally{
e!==null&&t.types!==null&&(e.types=t.types),S.T=e}}function gl(n){var e=S.T;if(e!==null){var t=e.types;t===null?e.types=
[n]:t.indexOf(n)===-1&&t.push(n)}else dl(gl.bind(null,n))}var Uo={map:$t,forEach:function(n,e,t){$t(n,function(){e.apply(
this,arguments)},t)},count:function(n){var e=0;return $t(n,function(){e++}),e},toArray:function(n){return $t(n,function(e){
return e})||[]},only:function(n){if(!ti(n))throw Error("React.Children.only expected to receive a single React element c\
hild.");return n}};y.Activity=Lo;y.Children=Uo;y.Component=Xe;y.Fragment=Ao;y.Profiler=ko;y.PureComponent=$r;y.StrictMode=
So;y.Suspense=No;y.ViewTransition=Ho;y.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE=S;y.__COMPILER_RUNTIME=
{__proto__:null,c:function(n){return S.H.useMemoCache(n)}};y.addTransitionType=gl;y.cache=function(n){return function(){
return n.apply(null,arguments)}};y.cacheSignal=function(){return null};y.cloneElement=function(n,e,t){if(n==null)throw Error(
"The argument must be a React element, but you passed "+n+".");var r=fl({},n.props),i=n.key;if(e!=null)for(l in e.key!==
void 0&&(i=""+e.key),e)!sl.call(e,l)||l==="key"||l==="__self"||l==="__source"||l==="ref"&&e.ref===void 0||(r[l]=e[l]);var l=arguments.
length-2;if(l===1)r.children=t;else if(1<l){for(var a=Array(l),u=0;u<l;u++)a[u]=arguments[u+2];r.children=a}return ei(n.
type,i,r)};y.createContext=function(n){return n={$$typeof:Mo,_currentValue:n,_currentValue2:n,_threadCount:0,Provider:null,
Consumer:null},n.Provider=n,n.Consumer={$$typeof:Oo,_context:n},n};y.createElement=function(n,e,t){var r,i={},l=null;if(e!=
null)for(r in e.key!==void 0&&(l=""+e.key),e)sl.call(e,r)&&r!=="key"&&r!=="__self"&&r!=="__source"&&(i[r]=e[r]);var a=arguments.
length-2;if(a===1)i.children=t;else if(1<a){for(var u=Array(a),o=0;o<a;o++)u[o]=arguments[o+2];i.children=u}if(n&&n.defaultProps)
for(r in a=n.defaultProps,a)i[r]===void 0&&(i[r]=a[r]);return ei(n,l,i)};y.createRef=function(){return{current:null}};y.
forwardRef=function(n){return{$$typeof:Fo,render:n}};y.isValidElement=ti;y.lazy=function(n){return{$$typeof:ol,_payload:{
_status:-1,_result:n},_init:Wo}};y.memo=function(n,e){return{$$typeof:Io,type:n,compare:e===void 0?null:e}};y.startTransition=
dl;y.unstable_useCacheRefresh=function(){return S.H.useCacheRefresh()};y.use=function(n){return S.H.use(n)};y.useActionState=
function(n,e,t){return S.H.useActionState(n,e,t)};y.useCallback=function(n,e){return S.H.useCallback(n,e)};y.useContext=
function(n){return S.H.useContext(n)};y.useDebugValue=function(){};y.useDeferredValue=function(n,e){return S.H.useDeferredValue(
n,e)};y.useEffect=function(n,e){return S.H.useEffect(n,e)};y.useEffectEvent=function(n){return S.H.useEffectEvent(n)};y.
useId=function(){return S.H.useId()};y.useImperativeHandle=function(n,e,t){return S.H.useImperativeHandle(n,e,t)};y.useInsertionEffect=
function(n,e){return S.H.useInsertionEffect(n,e)};y.useLayoutEffect=function(n,e){return S.H.useLayoutEffect(n,e)};y.useMemo=
function(n,e){return S.H.useMemo(n,e)};y.useOptimistic=function(n,e){return S.H.useOptimistic(n,e)};y.useReducer=function(n,e,t){
return S.H.useReducer(n,e,t)};y.useRef=function(n){return S.H.useRef(n)};y.useState=function(n){return S.H.useState(n)};
y.useSyncExternalStore=function(n,e,t){return S.H.useSyncExternalStore(n,e,t)};y.useTransition=function(){return S.H.useTransition()};
y.version="19.3.1"});var gn=Te((Ef,yl)=>{"use strict";yl.exports=vl()});var El=Te(en=>{"use strict";var Go=gn();function Tl(n){var e="https://react.dev/errors/"+n;if(1<arguments.length){e+="?a\
rgs[]="+encodeURIComponent(arguments[1]);for(var t=2;t<arguments.length;t++)e+="&args[]="+encodeURIComponent(arguments[t])}
return"Minified React error #"+n+"; visit "+e+" for the full message or use the non-minified dev environment for full er\
rors and additional helpful warnings."}function jn(){}var an={d:{f:jn,r:function(){throw Error(Tl(522))},D:jn,C:jn,L:jn,
m:jn,X:jn,S:jn,M:jn},p:0,findDOMNode:null},Xo=Symbol.for("react.portal"),Zo=Symbol.for("react.recoverable"),bl=Symbol.for(
"react.optimistic_key");function Vo(n,e,t){var r=3<arguments.length&&arguments[3]!==void 0?arguments[3]:null;return{$$typeof:Xo,
key:r==null?null:r===bl?bl:""+r,children:n,containerInfo:e,implementation:t}}var gt=Go.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE;
function nr(n,e){if(n==="font")return"";if(typeof e=="string")return e==="use-credentials"?e:""}en.__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE=
an;en.browser=function(n){return{$$typeof:Zo,_reason:n}};en.createPortal=function(n,e){var t=2<arguments.length&&arguments[2]!==
void 0?arguments[2]:null;if(!e||e.nodeType!==1&&e.nodeType!==9&&e.nodeType!==11)throw Error(Tl(299));return Vo(n,e,null,
t)};en.flushSync=function(n){var e=gt.T,t=an.p;try{if(gt.T=null,an.p=2,n)return n()}finally{gt.T=e,an.p=t,an.d.f()}};en.
preconnect=function(n,e){typeof n=="string"&&(e?(e=e.crossOrigin,e=typeof e=="string"?e==="use-credentials"?e:"":void 0):
e=null,an.d.C(n,e))};en.prefetchDNS=function(n){typeof n=="string"&&an.d.D(n)};en.preinit=function(n,e){if(typeof n=="st\
ring"&&e&&typeof e.as=="string"){var t=e.as,r=nr(t,e.crossOrigin),i=typeof e.integrity=="string"?e.integrity:void 0,l=typeof e.
fetchPriority=="string"?e.fetchPriority:void 0;t==="style"?an.d.S(n,typeof e.precedence=="string"?e.precedence:void 0,{crossOrigin:r,
integrity:i,fetchPriority:l}):t==="script"&&an.d.X(n,{crossOrigin:r,integrity:i,fetchPriority:l,nonce:typeof e.nonce=="s\
tring"?e.nonce:void 0})}};en.preinitModule=function(n,e){if(typeof n=="string")if(typeof e=="object"&&e!==null){if(e.as==
null||e.as==="script"){var t=nr(e.as,e.crossOrigin);an.d.M(n,{crossOrigin:t,integrity:typeof e.integrity=="string"?e.integrity:
void 0,nonce:typeof e.nonce=="string"?e.nonce:void 0,fetchPriority:typeof e.fetchPriority=="string"?e.fetchPriority:void 0})}}else
e==null&&an.d.M(n)};en.preload=function(n,e){if(typeof n=="string"&&typeof e=="object"&&e!==null&&typeof e.as=="string"){
var t=e.as,r=nr(t,e.crossOrigin);an.d.L(n,t,{crossOrigin:r,integrity:typeof e.integrity=="string"?e.integrity:void 0,nonce:typeof e.
nonce=="string"?e.nonce:void 0,type:typeof e.type=="string"?e.type:void 0,fetchPriority:typeof e.fetchPriority=="string"?
e.fetchPriority:void 0,referrerPolicy:typeof e.referrerPolicy=="string"?e.referrerPolicy:void 0,imageSrcSet:typeof e.imageSrcSet==
"string"?e.imageSrcSet:void 0,imageSizes:typeof e.imageSizes=="string"?e.imageSizes:void 0,media:typeof e.media=="string"?
e.media:void 0})}};en.preloadModule=function(n,e){if(typeof n=="string")if(e){var t=nr(e.as,e.crossOrigin);an.d.m(n,{as:typeof e.
as=="string"&&e.as!=="script"?e.as:void 0,crossOrigin:t,integrity:typeof e.integrity=="string"?e.integrity:void 0,nonce:typeof e.
nonce=="string"?e.nonce:void 0,fetchPriority:typeof e.fetchPriority=="string"?e.fetchPriority:void 0})}else an.d.m(n)};en.
requestFormReset=function(n){an.d.r(n)};en.unstable_batchedUpdates=function(n,e){return n(e)};en.useFormState=function(n,e,t){
return gt.H.useFormState(n,e,t)};en.useFormStatus=function(){return gt.H.useHostTransitionStatus()};en.version="19.3.1"});var xl=Te((wf,wl)=>{"use strict";function pl(){if(!(typeof __REACT_DEVTOOLS_GLOBAL_HOOK__>"u"||typeof __REACT_DEVTOOLS_GLOBAL_HOOK__.
checkDCE!="function"))try{__REACT_DEVTOOLS_GLOBAL_HOOK__.checkDCE(pl)}catch(n){console.error(n)}}pl(),wl.exports=El()});var Ia=Te(Nr=>{"use strict";var $l=gn(),Qo=xl();function v(n){var e="https://react.dev/errors/"+n;if(1<arguments.length){
e+="?args[]="+encodeURIComponent(arguments[1]);for(var t=2;t<arguments.length;t++)e+="&args[]="+encodeURIComponent(arguments[t])}
return"Minified React error #"+n+"; visit "+e+" for the full message or use the non-minified dev environment for full er\
rors and additional helpful warnings."}var na=Symbol.for("react.transitional.element"),ea=Symbol.for("react.portal"),ta=Symbol.
for("react.fragment"),ra=Symbol.for("react.strict_mode"),ia=Symbol.for("react.profiler"),la=Symbol.for("react.consumer"),
mr=Symbol.for("react.context"),Ei=Symbol.for("react.forward_ref"),Cr=Symbol.for("react.suspense"),pi=Symbol.for("react.s\
uspense_list"),wi=Symbol.for("react.memo"),_r=Symbol.for("react.lazy"),Jo=Symbol.for("react.scope"),aa=Symbol.for("react\
.activity"),Ko=Symbol.for("react.legacy_hidden"),qo=Symbol.for("react.memo_cache_sentinel"),xi=Symbol.for("react.view_tr\
ansition"),Ar=Symbol.for("react.recoverable"),Rl=Symbol.iterator;function oa(n){return n===null||typeof n!="object"?null:
(n=Rl&&n[Rl]||n["@@iterator"],typeof n=="function"?n:null)}var jo=Symbol.for("react.optimistic_key"),hr=Array.isArray;function Pl(n,e){
var t=n.length&3,r=n.length-t,i=e;for(e=0;e<r;){var l=n.charCodeAt(e)&255|(n.charCodeAt(++e)&255)<<8|(n.charCodeAt(++e)&
255)<<16|(n.charCodeAt(++e)&255)<<24;++e,l=3432918353*(l&65535)+((3432918353*(l>>>16)&65535)<<16)&4294967295,l=l<<15|l>>>
17,l=461845907*(l&65535)+((461845907*(l>>>16)&65535)<<16)&4294967295,i^=l,i=i<<13|i>>>19,i=5*(i&65535)+((5*(i>>>16)&65535)<<
16)&4294967295,i=(i&65535)+27492+(((i>>>16)+58964&65535)<<16)}switch(l=0,t){case 3:l^=(n.charCodeAt(e+2)&255)<<16;case 2:
l^=(n.charCodeAt(e+1)&255)<<8;case 1:l^=n.charCodeAt(e)&255,l=3432918353*(l&65535)+((3432918353*(l>>>16)&65535)<<16)&4294967295,
l=l<<15|l>>>17,i^=461845907*(l&65535)+((461845907*(l>>>16)&65535)<<16)&4294967295}return i^=n.length,i^=i>>>16,i=2246822507*
(i&65535)+((2246822507*(i>>>16)&65535)<<16)&4294967295,i^=i>>>13,i=3266489909*(i&65535)+((3266489909*(i>>>16)&65535)<<16)&
4294967295,(i^i>>>16)>>>0}var cn=Object.assign,F=Object.prototype.hasOwnProperty,$o=RegExp("^[:A-Z_a-z\\u00C0-\\u00D6\\u00D\
8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\\
uFFFD][:A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\\
u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\-.0-9\\u00B7\\u0300-\\u036F\\u203F-\\u2040]*$"),ml={},Cl={};function Ri(n){
return F.call(Cl,n)?!0:F.call(ml,n)?!1:$o.test(n)?Cl[n]=!0:(ml[n]=!0,!1)}var nu=new Set("animationIterationCount aspectR\
atio borderImageOutset borderImageSlice borderImageWidth boxFlex boxFlexGroup boxOrdinalGroup columnCount columns flex f\
lexGrow flexPositive flexShrink flexNegative flexOrder gridArea gridRow gridRowEnd gridRowSpan gridRowStart gridColumn g\
ridColumnEnd gridColumnSpan gridColumnStart fontWeight lineClamp lineHeight opacity order orphans scale tabSize widows z\
Index zoom fillOpacity floodOpacity stopOpacity strokeDasharray strokeDashoffset strokeMiterlimit strokeOpacity strokeWi\
dth MozAnimationIterationCount MozBoxFlex MozBoxFlexGroup MozLineClamp msAnimationIterationCount msFlex msZoom msFlexGro\
w msFlexNegative msFlexOrder msFlexPositive msFlexShrink msGridColumn msGridColumnSpan msGridRow msGridRowSpan WebkitAni\
mationIterationCount WebkitBoxFlex WebKitBoxFlexGroup WebkitBoxOrdinalGroup WebkitColumnCount WebkitColumns WebkitFlex W\
ebkitFlexGrow WebkitFlexPositive WebkitFlexShrink WebkitLineClamp".split(" ")),eu=new Map([["acceptCharset","accept-char\
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
Height","x-height"]]),tu=/["'&<>]/;function E(n){if(typeof n=="boolean"||typeof n=="number"||typeof n=="bigint")return""+
n;n=""+n;var e=tu.exec(n);if(e){var t="",r,i=0;for(r=e.index;r<n.length;r++){switch(n.charCodeAt(r)){case 34:e="&quot;";
break;case 38:e="&amp;";break;case 39:e="&#x27;";break;case 60:e="&lt;";break;case 62:e="&gt;";break;default:continue}i!==
r&&(t+=n.slice(i,r)),i=r+1,t+=e}n=i!==r?t+n.slice(i,r):t}return n}var ru=/([A-Z])/g,iu=/^ms-/,lu=/^[\u0000-\u001F ]*j[\r\n\t]*a[\r\n\t]*v[\r\n\t]*a[\r\n\t]*s[\r\n\t]*c[\r\n\t]*r[\r\n\t]*i[\r\n\t]*p[\r\n\t]*t[\r\n\t]*:/i;
function Et(n){return lu.test(""+n)?"javascript:throw new Error('React has blocked a javascript: URL as a security preca\
ution.')":n}var Ze=$l.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE,ua=Qo.__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE,
au={pending:!1,data:null,method:null,action:null},zn=ua.d;ua.d={f:zn.f,r:zn.r,D:Pu,C:mu,L:Cu,m:_u,X:Su,S:Au,M:ku};var pn=[],
Je=null,fa=/(<\/|<)(s)(cript)/gi;function ca(n,e,t,r){return""+e+(t==="s"?"\\u0073":"\\u0053")+r}function ou(n,e,t,r,i){
return{idPrefix:n===void 0?"":n,nextFormID:0,streamingFormat:0,bootstrapScriptContent:t,bootstrapScripts:r,bootstrapModules:i,
instructions:0,hasBody:!1,hasHtml:!1,unknownResources:{},dnsResources:{},connectResources:{default:{},anonymous:{},credentials:{}},
imageResources:{},styleResources:{},scriptResources:{},moduleUnknownResources:{},moduleScriptResources:{}}}function K(n,e,t,r){
return{insertionMode:n,selectedValue:e,tagScope:t,viewTransition:r}}function _l(n,e,t){var r=n.tagScope&-25;switch(e){case"\
noscript":return K(2,null,r|1,null);case"select":return K(2,t.value!=null?t.value:t.defaultValue,r,null);case"svg":return K(
4,null,r,null);case"picture":return K(2,null,r|2,null);case"math":return K(5,null,r,null);case"foreignObject":return K(2,
null,r,null);case"table":return K(6,null,r,null);case"thead":case"tbody":case"tfoot":return K(7,null,r,null);case"colgro\
up":return K(9,null,r,null);case"tr":return K(8,null,r,null);case"head":if(2>n.insertionMode)return K(3,null,r,null);break;case"\
html":if(n.insertionMode===0)return K(1,null,r,null)}return 6<=n.insertionMode||2>n.insertionMode?K(2,null,r,null):n.viewTransition!==
null||n.tagScope!==r?K(n.insertionMode,n.selectedValue,r,null):n}function ha(n){return n===null?null:{update:n.update,enter:"\
none",exit:"none",share:n.update,parentEnter:"none",parentExit:"none",name:n.autoName,autoName:n.autoName,nameIdx:0}}function fi(n,e){
return e.tagScope&32&&(n.instructions|=128),K(e.insertionMode,e.selectedValue,e.tagScope|12,ha(e.viewTransition))}function ir(n,e){
n=ha(e.viewTransition);var t=e.tagScope|16;return n!==null&&n.share!=="none"&&(t|=64),K(e.insertionMode,e.selectedValue,
t,n)}function sa(n,e,t){return n="_"+n.idPrefix+"R_"+e,0<t&&(n+="H"+t.toString(32)),n+"_"}function vn(n,e){e=e.viewTransition,
e!==null&&(e.name!=="auto"&&(D(n,"vt-name",e.nameIdx===0?e.name:e.name+"_"+e.nameIdx),e.nameIdx++),D(n,"vt-update",e.update),
e.enter!=="none"&&D(n,"vt-enter",e.enter),e.exit!=="none"&&D(n,"vt-exit",e.exit),e.share!=="none"&&D(n,"vt-share",e.share))}
var Al=new Map;function da(n,e){if(typeof e!="object")throw Error(v(62));var t=!0,r;for(r in e)if(F.call(e,r)){var i=e[r];
if(i!=null&&typeof i!="boolean"&&i!==""){if(r.indexOf("--")===0){var l=E(r);i=E((""+i).trim())}else l=Al.get(r),l===void 0&&
(l=E(r.replace(ru,"-$1").toLowerCase().replace(iu,"-ms-")),Al.set(r,l)),i=typeof i=="number"?i===0||nu.has(r)?""+i:i+"px":
E((""+i).trim());t?(t=!1,n.push(' style="',l,":",i)):n.push(";",l,":",i)}}t||n.push('"')}function ci(n,e,t){t&&typeof t!=
"function"&&typeof t!="symbol"&&n.push(" ",e,'=""')}function D(n,e,t){typeof t!="function"&&typeof t!="symbol"&&typeof t!=
"boolean"&&n.push(" ",e,'="',E(t),'"')}var ga=E("javascript:throw new Error('React form unexpectedly submitted.')");function ri(n,e){
this.push('<input type="hidden"'),va(n),D(this,"name",e),D(this,"value",n),this.push("/>")}function va(n){if(typeof n!="\
string")throw Error(v(480))}function ya(n,e){if(typeof e.$$FORM_ACTION=="function"){var t=n.nextFormID++;n=n.idPrefix+t;
try{var r=e.$$FORM_ACTION(n);if(r){var i=r.data;i?.forEach(va)}return r}catch(l){if(typeof l=="object"&&l!==null&&typeof l.
then=="function")throw l}}return null}function Sl(n,e,t,r,i,l,a,u){var o=null;if(typeof r=="function"){var f=ya(e,r);f!==
null?(u=f.name,r=f.action||"",i=f.encType,l=f.method,a=f.target,o=f.data):(n.push(" ","formAction",'="',ga,'"'),a=l=i=r=
u=null,ba(e,t))}return u!=null&&m(n,"name",u),r!=null&&m(n,"formAction",r),i!=null&&m(n,"formEncType",i),l!=null&&m(n,"f\
ormMethod",l),a!=null&&m(n,"formTarget",a),o}function m(n,e,t){switch(e){case"className":D(n,"class",t);break;case"tabIn\
dex":D(n,"tabindex",t);break;case"dir":case"role":case"viewBox":case"width":case"height":D(n,e,t);break;case"style":da(n,
t);break;case"src":case"href":if(t==="")break;case"action":case"formAction":if(t==null||typeof t=="function"||typeof t==
"symbol"||typeof t=="boolean")break;t=Et(""+t),n.push(" ",e,'="',E(t),'"');break;case"defaultValue":case"defaultChecked":case"\
innerHTML":case"suppressContentEditableWarning":case"suppressHydrationWarning":case"ref":break;case"autoFocus":case"mult\
iple":case"muted":ci(n,e.toLowerCase(),t);break;case"xlinkHref":if(typeof t=="function"||typeof t=="symbol"||typeof t=="\
boolean")break;t=Et(""+t),n.push(" ","xlink:href",'="',E(t),'"');break;case"contentEditable":case"spellCheck":case"dragg\
able":case"value":case"autoReverse":case"externalResourcesRequired":case"focusable":case"preserveAlpha":typeof t!="funct\
ion"&&typeof t!="symbol"&&n.push(" ",e,'="',E(t),'"');break;case"inert":case"allowFullScreen":case"async":case"autoPlay":case"\
controls":case"credentialless":case"default":case"defer":case"disabled":case"disablePictureInPicture":case"disableRemote\
Playback":case"formNoValidate":case"hidden":case"loop":case"noModule":case"noValidate":case"open":case"playsInline":case"\
readOnly":case"required":case"reversed":case"scoped":case"seamless":case"itemScope":t&&typeof t!="function"&&typeof t!="\
symbol"&&n.push(" ",e,'=""');break;case"capture":case"download":t===!0?n.push(" ",e,'=""'):t!==!1&&typeof t!="function"&&
typeof t!="symbol"&&n.push(" ",e,'="',E(t),'"');break;case"cols":case"rows":case"size":case"span":typeof t!="function"&&
typeof t!="symbol"&&!isNaN(t)&&1<=t&&n.push(" ",e,'="',E(t),'"');break;case"rowSpan":case"start":typeof t=="function"||typeof t==
"symbol"||isNaN(t)||n.push(" ",e,'="',E(t),'"');break;case"xlinkActuate":D(n,"xlink:actuate",t);break;case"xlinkArcrole":
D(n,"xlink:arcrole",t);break;case"xlinkRole":D(n,"xlink:role",t);break;case"xlinkShow":D(n,"xlink:show",t);break;case"xl\
inkTitle":D(n,"xlink:title",t);break;case"xlinkType":D(n,"xlink:type",t);break;case"xmlBase":D(n,"xml:base",t);break;case"\
xmlLang":D(n,"xml:lang",t);break;case"xmlSpace":D(n,"xml:space",t);break;default:if((!(2<e.length)||e[0]!=="o"&&e[0]!=="\
O"||e[1]!=="n"&&e[1]!=="N")&&(e=eu.get(e)||e,Ri(e))){switch(typeof t){case"function":case"symbol":return;case"boolean":var r=e.
toLowerCase().slice(0,5);if(r!=="data-"&&r!=="aria-")return}n.push(" ",e,'="',E(t),'"')}}}function yn(n,e,t){if(e!=null){
if(t!=null)throw Error(v(60));if(typeof e!="object"||!("__html"in e))throw Error(v(61));e=e.__html,e!=null&&n.push(""+e)}}
function uu(n){var e="";return $l.Children.forEach(n,function(t){t!=null&&(e+=t)}),e}function ba(n,e){if((n.instructions&
16)===0){n.instructions|=16;var t=e.preamble,r=e.bootstrapChunks;(t.htmlChunks||t.headChunks)&&r.length===0?(r.push(e.startInlineScript),
lr(r,n),r.push(">",`addEventListener("submit",function(a){if(!a.defaultPrevented){var b=a.target,d=a.submitter,c=b.actio\
n,e=d;if(d){var f=d.getAttribute("formAction");null!=f&&(c=f,e=null)}"javascript:throw new Error('React form unexpectedl\
y submitted.')"===c&&(a.preventDefault(),a=new FormData(b,e),c=b.ownerDocument||b,(c.$$reactFormReplay=c.$$reactFormRepl\
ay||[]).push(b,d,a))}});`,"</script>")):r.unshift(e.startInlineScript,">",`addEventListener("submit",function(a){if(!a.d\
efaultPrevented){var b=a.target,d=a.submitter,c=b.action,e=d;if(d){var f=d.getAttribute("formAction");null!=f&&(c=f,e=nu\
ll)}"javascript:throw new Error('React form unexpectedly submitted.')"===c&&(a.preventDefault(),a=new FormData(b,e),c=b.\
ownerDocument||b,(c.$$reactFormReplay=c.$$reactFormReplay||[]).push(b,d,a))}});`,"</script>")}}function tn(n,e){n.push(U(
"link"));for(var t in e)if(F.call(e,t)){var r=e[t];if(r!=null)switch(t){case"children":case"dangerouslySetInnerHTML":throw Error(
v(399,"link"));default:m(n,t,r)}}return n.push("/>"),null}var kl=/(<\/|<)(s)(tyle)/gi;function Ol(n,e,t,r){return""+e+(t===
"s"?"\\73 ":"\\53 ")+r}function Ve(n,e,t,r){n.push(U(t));for(var i in e)if(F.call(e,i)){var l=e[i];if(l!=null)switch(i){case"\
children":case"dangerouslySetInnerHTML":throw Error(v(399,t));default:m(n,i,l)}}return vn(n,r),n.push("/>"),null}function Ml(n,e){
n.push(U("title"));var t=null,r=null,i;for(i in e)if(F.call(e,i)){var l=e[i];if(l!=null)switch(i){case"children":t=l;break;case"\
dangerouslySetInnerHTML":r=l;break;default:m(n,i,l)}}return n.push(">"),e=Array.isArray(t)?2>t.length?t[0]:null:t,typeof e!=
"function"&&typeof e!="symbol"&&e!==null&&e!==void 0&&n.push(E(""+e)),yn(n,r,t),n.push(we("title")),null}function sr(n,e){
n.push(U("script"));var t=null,r=null,i;for(i in e)if(F.call(e,i)){var l=e[i];if(l!=null)switch(i){case"children":t=l;break;case"\
dangerouslySetInnerHTML":r=l;break;default:m(n,i,l)}}return n.push(">"),yn(n,r,t),typeof t=="string"&&n.push((""+t).replace(
fa,ca)),n.push(we("script")),null}function ii(n,e,t,r){n.push(U(t));var i=t=null,l;for(l in e)if(F.call(e,l)){var a=e[l];
if(a!=null)switch(l){case"children":t=a;break;case"dangerouslySetInnerHTML":i=a;break;default:m(n,l,a)}}return vn(n,r),n.
push(">"),yn(n,i,t),t}function er(n,e,t,r){n.push(U(t));var i=t=null,l;for(l in e)if(F.call(e,l)){var a=e[l];if(a!=null)
switch(l){case"children":t=a;break;case"dangerouslySetInnerHTML":i=a;break;default:m(n,l,a)}}return vn(n,r),n.push(">"),
yn(n,i,t),typeof t=="string"?(n.push(E(t)),null):t}var fu=/^[a-zA-Z][a-zA-Z:_\.\-\d]*$/,Fl=new Map;function U(n){var e=Fl.
get(n);if(e===void 0){if(!fu.test(n))throw Error(v(65,n));e="<"+n,Fl.set(n,e)}return e}function cu(n,e,t,r,i,l,a,u,o){switch(e){case"\
div":case"span":case"svg":case"path":break;case"a":n.push(U("a"));var f=null,c=null,h;for(h in t)if(F.call(t,h)){var d=t[h];
if(d!=null)switch(h){case"children":f=d;break;case"dangerouslySetInnerHTML":c=d;break;case"href":d===""?D(n,"href",""):m(
n,h,d);break;default:m(n,h,d)}}if(vn(n,u),n.push(">"),yn(n,c,f),typeof f=="string"){n.push(E(f));var s=null}else s=f;return s;case"\
g":case"p":case"li":break;case"select":n.push(U("select"));var g=null,b=null,C;for(C in t)if(F.call(t,C)){var w=t[C];if(w!=
null)switch(C){case"children":g=w;break;case"dangerouslySetInnerHTML":b=w;break;case"defaultValue":case"value":break;default:
m(n,C,w)}}return vn(n,u),n.push(">"),yn(n,b,g),g;case"option":var _=u.selectedValue;n.push(U("option"));var B=null,I=null,
T=null,x=null,O;for(O in t)if(F.call(t,O)){var sn=t[O];if(sn!=null)switch(O){case"children":B=sn;break;case"selected":T=
sn;break;case"dangerouslySetInnerHTML":x=sn;break;case"value":I=sn;default:m(n,O,sn)}}if(_!=null){var p=I!==null?""+I:uu(
B);if(hr(_)){for(var L=0;L<_.length;L++)if(""+_[L]===p){n.push(' selected=""');break}}else""+_===p&&n.push(' selected=""')}else
T&&n.push(' selected=""');return n.push(">"),yn(n,x,B),B;case"textarea":n.push(U("textarea"));var H=null,X=null,M=null,un;
for(un in t)if(F.call(t,un)){var z=t[un];if(z!=null)switch(un){case"children":M=z;break;case"value":H=z;break;case"defau\
ltValue":X=z;break;case"dangerouslySetInnerHTML":throw Error(v(91));default:m(n,un,z)}}if(H===null&&X!==null&&(H=X),vn(n,
u),n.push(">"),M!=null){if(H!=null)throw Error(v(92));if(hr(M)){if(1<M.length)throw Error(v(93));H=""+M[0]}H=""+M}return typeof H==
"string"&&H[0]===`
`&&n.push(`
`),H!==null&&n.push(E(""+H)),null;case"input":n.push(U("input"));var Wn=null,dn=null,W=null,le=null,V=null,An=null,Q=null,
Tn=null,wn=null,Sn;for(Sn in t)if(F.call(t,Sn)){var N=t[Sn];if(N!=null)switch(Sn){case"children":case"dangerouslySetInne\
rHTML":throw Error(v(399,"input"));case"name":Wn=N;break;case"formAction":dn=N;break;case"formEncType":W=N;break;case"fo\
rmMethod":le=N;break;case"formTarget":V=N;break;case"defaultChecked":wn=N;break;case"defaultValue":Q=N;break;case"checke\
d":Tn=N;break;case"value":An=N;break;default:m(n,Sn,N)}}var Ln=Sl(n,r,i,dn,W,le,V,Wn);return Tn!==null?ci(n,"checked",Tn):
wn!==null&&ci(n,"checked",wn),An!==null?m(n,"value",An):Q!==null&&m(n,"value",Q),vn(n,u),n.push("/>"),Ln?.forEach(ri,n),
null;case"button":n.push(U("button"));var ae=null,kn=null,Un=null,et=null,Oe=null,Me=null,zt=null,On;for(On in t)if(F.call(
t,On)){var $=t[On];if($!=null)switch(On){case"children":ae=$;break;case"dangerouslySetInnerHTML":kn=$;break;case"name":Un=
$;break;case"formAction":et=$;break;case"formEncType":Oe=$;break;case"formMethod":Me=$;break;case"formTarget":zt=$;break;default:
m(n,On,$)}}var Yt=Sl(n,r,i,et,Oe,Me,zt,Un);if(vn(n,u),n.push(">"),Yt?.forEach(ri,n),yn(n,kn,ae),typeof ae=="string"){n.push(
E(ae));var tt=null}else tt=ae;return tt;case"form":n.push(U("form"));var oe=null,Wt=null,Hn=null,Gn=null,ue=null,Xn=null,
fe;for(fe in t)if(F.call(t,fe)){var Mn=t[fe];if(Mn!=null)switch(fe){case"children":oe=Mn;break;case"dangerouslySetInnerH\
TML":Wt=Mn;break;case"action":Hn=Mn;break;case"encType":Gn=Mn;break;case"method":ue=Mn;break;case"target":Xn=Mn;break;default:
m(n,fe,Mn)}}var Fe=null,Zn=null;if(typeof Hn=="function"){var ln=ya(r,Hn);ln!==null?(Hn=ln.action||"",Gn=ln.encType,ue=ln.
method,Xn=ln.target,Fe=ln.data,Zn=ln.name):(n.push(" ","action",'="',ga,'"'),Xn=ue=Gn=Hn=null,ba(r,i))}if(Hn!=null&&m(n,
"action",Hn),Gn!=null&&m(n,"encType",Gn),ue!=null&&m(n,"method",ue),Xn!=null&&m(n,"target",Xn),vn(n,u),n.push(">"),Zn!==
null&&(n.push('<input type="hidden"'),D(n,"name",Zn),n.push("/>"),Fe?.forEach(ri,n)),yn(n,Wt,oe),typeof oe=="string"){n.
push(E(oe));var rt=null}else rt=oe;return rt;case"menuitem":n.push(U("menuitem"));for(var ce in t)if(F.call(t,ce)){var Ut=t[ce];
if(Ut!=null)switch(ce){case"children":case"dangerouslySetInnerHTML":throw Error(v(400));default:m(n,ce,Ut)}}return vn(n,
u),n.push(">"),null;case"object":n.push(U("object"));var xn=null,it=null,Vn;for(Vn in t)if(F.call(t,Vn)){var Qn=t[Vn];if(Qn!=
null)switch(Vn){case"children":xn=Qn;break;case"dangerouslySetInnerHTML":it=Qn;break;case"data":var A=Et(""+Qn);if(A==="")
break;n.push(" ","data",'="',E(A),'"');break;default:m(n,Vn,Qn)}}if(vn(n,u),n.push(">"),yn(n,it,xn),typeof xn=="string"){
n.push(E(xn));var Rn=null}else Rn=xn;return Rn;case"title":var En=u.tagScope&1,lt=u.tagScope&4;if(u.insertionMode===4||En||
t.itemProp!=null)var Ne=Ml(n,t);else lt?Ne=null:(Ml(i.hoistableChunks,t),Ne=void 0);return Ne;case"link":var Ie=u.tagScope&
1,Gt=u.tagScope&4,Xt=t.rel,Pn=t.href,Le=t.precedence;if(u.insertionMode===4||Ie||t.itemProp!=null||typeof Xt!="string"||
typeof Pn!="string"||Pn===""){tn(n,t);var he=null}else if(t.rel==="stylesheet")if(typeof Le!="string"||t.disabled!=null||
t.onLoad||t.onError)he=tn(n,t);else{var Dn=i.styles.get(Le),Jn=r.styleResources.hasOwnProperty(Pn)?r.styleResources[Pn]:
void 0;if(Jn!==null){r.styleResources[Pn]=null,Dn||(Dn={precedence:E(Le),rules:[],hrefs:[],sheets:new Map},i.styles.set(
Le,Dn));var Kn={state:0,props:cn({},t,{"data-precedence":t.precedence,precedence:null})};if(Jn){Jn.length===2&&pt(Kn.props,
Jn);var at=i.preloads.stylesheets.get(Pn);at&&0<at.length?at.length=0:Kn.state=1}Dn.sheets.set(Pn,Kn),a&&a.stylesheets.add(
Kn)}else if(Dn){var Zt=Dn.sheets.get(Pn);Zt&&a&&a.stylesheets.add(Zt)}o&&n.push("<!-- -->"),he=null}else t.onLoad||t.onError?
he=tn(n,t):(o&&n.push("<!-- -->"),he=Gt?null:tn(i.hoistableChunks,t));return he;case"script":var zr=u.tagScope&1,He=t.async;
if(typeof t.src!="string"||!t.src||!He||typeof He=="function"||typeof He=="symbol"||t.onLoad||t.onError||u.insertionMode===
4||zr||t.itemProp!=null)var Vt=sr(n,t);else{var qn=t.src;if(t.type==="module")var se=r.moduleScriptResources,de=i.preloads.
moduleScripts;else se=r.scriptResources,de=i.preloads.scripts;var De=se.hasOwnProperty(qn)?se[qn]:void 0;if(De!==null){se[qn]=
null;var ot=t;if(De){De.length===2&&(ot=cn({},t),pt(ot,De));var Qt=de.get(qn);Qt&&(Qt.length=0)}var Jt=[];i.scripts.add(
Jt),sr(Jt,ot)}o&&n.push("<!-- -->"),Vt=null}return Vt;case"style":var Yr=u.tagScope&1,Be=t.precedence,Fn=t.href,bo=t.nonce;
if(u.insertionMode===4||Yr||t.itemProp!=null||typeof Be!="string"||typeof Fn!="string"||Fn===""){n.push(U("style"));var ze=null,
Ui=null,ut;for(ut in t)if(F.call(t,ut)){var Kt=t[ut];if(Kt!=null)switch(ut){case"children":ze=Kt;break;case"dangerouslyS\
etInnerHTML":Ui=Kt;break;default:m(n,ut,Kt)}}n.push(">");var ft=Array.isArray(ze)?2>ze.length?ze[0]:null:ze;typeof ft!="\
function"&&typeof ft!="symbol"&&ft!==null&&ft!==void 0&&n.push((""+ft).replace(kl,Ol)),yn(n,Ui,ze),n.push(we("style"));var Gi=null}else{
var ge=i.styles.get(Be);if((r.styleResources.hasOwnProperty(Fn)?r.styleResources[Fn]:void 0)!==null){r.styleResources[Fn]=
null,ge||(ge={precedence:E(Be),rules:[],hrefs:[],sheets:new Map},i.styles.set(Be,ge));var Xi=i.nonce.style;if(!Xi||Xi===
bo){ge.hrefs.push(E(Fn));var Zi=ge.rules,Ye=null,Vi=null,qt;for(qt in t)if(F.call(t,qt)){var Wr=t[qt];if(Wr!=null)switch(qt){case"\
children":Ye=Wr;break;case"dangerouslySetInnerHTML":Vi=Wr}}var ct=Array.isArray(Ye)?2>Ye.length?Ye[0]:null:Ye;typeof ct!=
"function"&&typeof ct!="symbol"&&ct!==null&&ct!==void 0&&Zi.push((""+ct).replace(kl,Ol)),yn(Zi,Vi,Ye)}}ge&&a&&a.styles.add(
ge),o&&n.push("<!-- -->"),Gi=void 0}return Gi;case"meta":var To=u.tagScope&1,Eo=u.tagScope&4;if(u.insertionMode===4||To||
t.itemProp!=null)var Qi=Ve(n,t,"meta",u);else o&&n.push("<!-- -->"),Qi=Eo?null:typeof t.charSet=="string"?Ve(i.charsetChunks,
t,"meta",u):t.name==="viewport"?Ve(i.viewportChunks,t,"meta",u):Ve(i.hoistableChunks,t,"meta",u);return Qi;case"listing":case"\
pre":n.push(U(e));var ht=null,st=null,dt;for(dt in t)if(F.call(t,dt)){var jt=t[dt];if(jt!=null)switch(dt){case"children":
ht=jt;break;case"dangerouslySetInnerHTML":st=jt;break;default:m(n,dt,jt)}}if(vn(n,u),n.push(">"),st!=null){if(ht!=null)throw Error(
v(60));if(typeof st!="object"||!("__html"in st))throw Error(v(61));var ve=st.__html;ve!=null&&(typeof ve=="string"&&0<ve.
length&&ve[0]===`
`?n.push(`
`,ve):n.push(""+ve))}return typeof ht=="string"&&ht[0]===`
`&&n.push(`
`),ht;case"img":var po=u.tagScope&3,nn=t.src,J=t.srcSet;if(!(t.loading==="lazy"||!nn&&!J||typeof nn!="string"&&nn!=null||
typeof J!="string"&&J!=null||t.fetchPriority==="low"||po)&&(typeof nn!="string"||nn[4]!==":"||nn[0]!=="d"&&nn[0]!=="D"||
nn[1]!=="a"&&nn[1]!=="A"||nn[2]!=="t"&&nn[2]!=="T"||nn[3]!=="a"&&nn[3]!=="A")&&(typeof J!="string"||J[4]!==":"||J[0]!=="\
d"&&J[0]!=="D"||J[1]!=="a"&&J[1]!=="A"||J[2]!=="t"&&J[2]!=="T"||J[3]!=="a"&&J[3]!=="A")){a!==null&&u.tagScope&64&&(a.suspenseyImages=
!0);var Ji=typeof t.sizes=="string"?t.sizes:void 0,We=J?J+`
`+(Ji||""):nn,Ur=i.preloads.images,ye=Ur.get(We);if(ye)(t.fetchPriority==="high"||10>i.highImagePreloads.size)&&(Ur.delete(
We),i.highImagePreloads.add(ye));else if(!r.imageResources.hasOwnProperty(We)){r.imageResources[We]=pn;var Gr=t.crossOrigin,
Ki=typeof Gr=="string"?Gr==="use-credentials"?Gr:"":void 0,be=i.headers,Xr;be&&0<be.remainingCapacity&&typeof t.srcSet!=
"string"&&(t.fetchPriority==="high"||500>be.highImagePreloads.length)&&(Xr=gr(nn,"image",{imageSrcSet:t.srcSet,imageSizes:t.
sizes,crossOrigin:Ki,integrity:t.integrity,nonce:t.nonce,type:t.type,fetchPriority:t.fetchPriority,referrerPolicy:t.referrerPolicy}),
0<=(be.remainingCapacity-=Xr.length+2))?(i.resets.image[We]=pn,be.highImagePreloads&&(be.highImagePreloads+=", "),be.highImagePreloads+=
Xr):(ye=[],tn(ye,{rel:"preload",as:"image",href:J?void 0:nn,imageSrcSet:J,imageSizes:Ji,crossOrigin:Ki,integrity:t.integrity,
type:t.type,fetchPriority:t.fetchPriority,referrerPolicy:t.referrerPolicy}),t.fetchPriority==="high"||10>i.highImagePreloads.
size?i.highImagePreloads.add(ye):(i.bulkPreloads.add(ye),Ur.set(We,ye)))}}return Ve(n,t,"img",u);case"base":case"area":case"\
br":case"col":case"embed":case"hr":case"keygen":case"param":case"source":case"track":case"wbr":return Ve(n,t,e,u);case"a\
nnotation-xml":case"color-profile":case"font-face":case"font-face-src":case"font-face-uri":case"font-face-format":case"f\
ont-face-name":case"missing-glyph":break;case"head":if(2>u.insertionMode){var Zr=l||i.preamble;if(Zr.headChunks)throw Error(
v(545,"`<head>`"));l!==null&&n.push("<!--head-->"),Zr.headChunks=[];var qi=ii(Zr.headChunks,t,"head",u)}else qi=er(n,t,"\
head",u);return qi;case"body":if(2>u.insertionMode){var Vr=l||i.preamble;if(Vr.bodyChunks)throw Error(v(545,"`<body>`"));
l!==null&&n.push("<!--body-->"),Vr.bodyChunks=[];var ji=ii(Vr.bodyChunks,t,"body",u)}else ji=er(n,t,"body",u);return ji;case"\
html":if(u.insertionMode===0){var Qr=l||i.preamble;if(Qr.htmlChunks)throw Error(v(545,"`<html>`"));l!==null&&n.push("<!-\
-html-->"),Qr.htmlChunks=[""];var $i=ii(Qr.htmlChunks,t,"html",u)}else $i=er(n,t,"html",u);return $i;default:if(e.indexOf(
"-")!==-1){n.push(U(e));var Jr=null,nl=null,Ue;for(Ue in t)if(F.call(t,Ue)){var mn=t[Ue];if(mn!=null){var el=Ue;switch(Ue){case"\
children":Jr=mn;break;case"dangerouslySetInnerHTML":nl=mn;break;case"style":da(n,mn);break;case"suppressContentEditableW\
arning":case"suppressHydrationWarning":case"ref":break;case"className":el="class";default:if(Ri(Ue)&&typeof mn!="functio\
n"&&typeof mn!="symbol"&&mn!==!1){if(mn===!0)mn="";else if(typeof mn=="object")continue;n.push(" ",el,'="',E(mn),'"')}}}}
return vn(n,u),n.push(">"),yn(n,nl,Jr),Jr}}return er(n,t,e,u)}var Nl=new Map;function we(n){var e=Nl.get(n);return e===void 0&&
(e="</"+n+">",Nl.set(n,e)),e}function Il(n,e){n=n.preamble,n.htmlChunks===null&&e.htmlChunks&&(n.htmlChunks=e.htmlChunks),
n.headChunks===null&&e.headChunks&&(n.headChunks=e.headChunks),n.bodyChunks===null&&e.bodyChunks&&(n.bodyChunks=e.bodyChunks)}
function Ta(n,e){e=e.bootstrapChunks;for(var t=0;t<e.length-1;t++)n.push(e[t]);return t<e.length?(t=e[t],e.length=0,n.push(
t)):!0}function Ll(n,e,t){if(n.push('<!--$?--><template id="'),t===null)throw Error(v(395));return n.push(e.boundaryPrefix),
e=t.toString(16),n.push(e),n.push('"></template>')}function hu(n,e,t,r){switch(t.insertionMode){case 0:case 1:case 3:case 2:
return n.push('<div hidden id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 4:return n.push('\
<svg aria-hidden="true" style="display:none" id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 5:
return n.push('<math aria-hidden="true" style="display:none" id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.
push('">');case 6:return n.push('<table hidden id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 7:
return n.push('<table hidden><tbody id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 8:return n.
push('<table hidden><tr id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');case 9:return n.push('<ta\
ble hidden><colgroup id="'),n.push(e.segmentPrefix),e=r.toString(16),n.push(e),n.push('">');default:throw Error(v(397))}}
function su(n,e){switch(e.insertionMode){case 0:case 1:case 3:case 2:return n.push("</div>");case 4:return n.push("</svg\
>");case 5:return n.push("</math>");case 6:return n.push("</table>");case 7:return n.push("</tbody></table>");case 8:return n.
push("</tr></table>");case 9:return n.push("</colgroup></table>");default:throw Error(v(397))}}var du=/[<\u2028\u2029]/g;
function gu(n){return JSON.stringify(n).replace(du,function(e){switch(e){case"<":return"\\u003c";case"\u2028":return"\\u2\
028";case"\u2029":return"\\u2029";default:throw Error("escapeJSStringsForInstructionScripts encountered a match it does \
not know how to replace. this means the match regex and the replacement characters are no longer in sync. This is a bug \
in React")}})}var vu=/[&><\u2028\u2029]/g;function bt(n){return JSON.stringify(n).replace(vu,function(e){switch(e){case"\
&":return"\\u0026";case">":return"\\u003e";case"<":return"\\u003c";case"\u2028":return"\\u2028";case"\u2029":return"\\u20\
29";default:throw Error("escapeJSObjectForInstructionScripts encountered a match it does not know how to replace. this m\
eans the match regex and the replacement characters are no longer in sync. This is a bug in React")}})}var dr=!1,hi=!0;function yu(n){
var e=n.rules,t=n.hrefs,r=0;if(t.length){for(this.push(Je.startInlineStyle),this.push(' media="not all" data-precedence=\
"'),this.push(n.precedence),this.push('" data-href="');r<t.length-1;r++)this.push(t[r]),this.push(" ");for(this.push(t[r]),
this.push('">'),r=0;r<e.length;r++)this.push(e[r]);hi=this.push("</style>"),dr=!0,e.length=0,t.length=0}}function bu(n){
return n.state!==2?dr=!0:!1}function Ea(n,e,t){return dr=!1,hi=!0,Je=t,e.styles.forEach(yu,n),Je=null,e.stylesheets.forEach(
bu),dr&&(t.stylesToHoist=!0),hi}function Cn(n){for(var e=0;e<n.length;e++)this.push(n[e]);n.length=0}var ne=[];function Tu(n){
tn(ne,n.props);for(var e=0;e<ne.length;e++)this.push(ne[e]);ne.length=0,n.state=2}function Eu(n){var e=0<n.sheets.size;n.
sheets.forEach(Tu,this),n.sheets.clear();var t=n.rules,r=n.hrefs;if(!e||r.length){if(this.push(Je.startInlineStyle),this.
push(' data-precedence="'),this.push(n.precedence),n=0,r.length){for(this.push('" data-href="');n<r.length-1;n++)this.push(
r[n]),this.push(" ");this.push(r[n])}for(this.push('">'),n=0;n<t.length;n++)this.push(t[n]);this.push("</style>"),t.length=
0,r.length=0}}function pu(n){if(n.state===0){n.state=1;var e=n.props;for(tn(ne,{rel:"preload",as:"style",href:n.props.href,
crossOrigin:e.crossOrigin,fetchPriority:e.fetchPriority,integrity:e.integrity,media:e.media,hrefLang:e.hrefLang,referrerPolicy:e.
referrerPolicy}),n=0;n<ne.length;n++)this.push(ne[n]);ne.length=0}}function wu(n){n.sheets.forEach(pu,this),n.sheets.clear()}
function lr(n,e){(e.instructions&32)===0&&(e.instructions|=32,n.push(' id="',E("_"+e.idPrefix+"R_"),'"'))}function xu(n,e){
n.push("[");var t="[";e.stylesheets.forEach(function(r){if(r.state!==2)if(r.state===3)n.push(t),r=bt(""+r.props.href),n.
push(r),n.push("]"),t=",[";else{n.push(t);var i=r.props["data-precedence"],l=r.props,a=Et(""+r.props.href);a=bt(a),n.push(
a),i=""+i,n.push(","),i=bt(i),n.push(i);for(var u in l)if(F.call(l,u)&&(i=l[u],i!=null))switch(u){case"href":case"rel":case"\
precedence":case"data-precedence":break;case"children":case"dangerouslySetInnerHTML":throw Error(v(399,"link"));default:
Ru(n,u,i)}n.push("]"),t=",[",r.state=3}}),n.push("]")}function Ru(n,e,t){var r=e.toLowerCase();switch(typeof t){case"fun\
ction":case"symbol":return}switch(e){case"innerHTML":case"dangerouslySetInnerHTML":case"suppressContentEditableWarning":case"\
suppressHydrationWarning":case"style":case"ref":return;case"className":r="class",e=""+t;break;case"hidden":if(t===!1)return;
e="";break;case"src":case"href":t=Et(t),e=""+t;break;default:if(2<e.length&&(e[0]==="o"||e[0]==="O")&&(e[1]==="n"||e[1]===
"N")||!Ri(e))return;e=""+t}n.push(","),r=bt(r),n.push(r),n.push(","),r=bt(e),n.push(r)}function si(){return{styles:new Set,
stylesheets:new Set,suspenseyImages:!1}}function Pu(n){var e=q||null;if(e){var t=e.resumableState,r=e.renderState;if(typeof n==
"string"&&n){if(!t.dnsResources.hasOwnProperty(n)){t.dnsResources[n]=null,t=r.headers;var i,l;(l=t&&0<t.remainingCapacity)&&
(l=(i="<"+(""+n).replace(Pi,mi)+">; rel=dns-prefetch",0<=(t.remainingCapacity-=i.length+2))),l?(r.resets.dns[n]=null,t.preconnects&&
(t.preconnects+=", "),t.preconnects+=i):(i=[],tn(i,{href:n,rel:"dns-prefetch"}),r.preconnects.add(i))}_e(e)}}else zn.D(n)}
function mu(n,e){var t=q||null;if(t){var r=t.resumableState,i=t.renderState;if(typeof n=="string"&&n){var l=e==="use-cre\
dentials"?"credentials":typeof e=="string"?"anonymous":"default";if(!r.connectResources[l].hasOwnProperty(n)){r.connectResources[l][n]=
null,r=i.headers;var a,u;if(u=r&&0<r.remainingCapacity){if(u="<"+(""+n).replace(Pi,mi)+">; rel=preconnect",typeof e=="st\
ring"){var o=(""+e).replace(di,gi);u+='; crossorigin="'+o+'"'}u=(a=u,0<=(r.remainingCapacity-=a.length+2))}u?(i.resets.connect[l][n]=
null,r.preconnects&&(r.preconnects+=", "),r.preconnects+=a):(l=[],tn(l,{rel:"preconnect",href:n,crossOrigin:e}),i.preconnects.
add(l))}_e(t)}}else zn.C(n,e)}function Cu(n,e,t){var r=q||null;if(r){var i=r.resumableState,l=r.renderState;if(e&&n){switch(e){case"\
image":if(t)var a=t.imageSrcSet,u=t.imageSizes,o=t.fetchPriority;var f=a?a+`
`+(u||""):n;if(i.imageResources.hasOwnProperty(f))return;i.imageResources[f]=pn,i=l.headers;var c;i&&0<i.remainingCapacity&&
typeof a!="string"&&o==="high"&&(c=gr(n,e,t),0<=(i.remainingCapacity-=c.length+2))?(l.resets.image[f]=pn,i.highImagePreloads&&
(i.highImagePreloads+=", "),i.highImagePreloads+=c):(i=[],tn(i,cn({rel:"preload",href:a?void 0:n,as:e},t)),o==="high"?l.
highImagePreloads.add(i):(l.bulkPreloads.add(i),l.preloads.images.set(f,i)));break;case"style":if(i.styleResources.hasOwnProperty(
n))return;a=[],tn(a,cn({rel:"preload",href:n,as:e},t)),i.styleResources[n]=!t||typeof t.crossOrigin!="string"&&typeof t.
integrity!="string"?pn:[t.crossOrigin,t.integrity],l.preloads.stylesheets.set(n,a),l.bulkPreloads.add(a);break;case"scri\
pt":if(i.scriptResources.hasOwnProperty(n))return;a=[],l.preloads.scripts.set(n,a),l.bulkPreloads.add(a),tn(a,cn({rel:"p\
reload",href:n,as:e},t)),i.scriptResources[n]=!t||typeof t.crossOrigin!="string"&&typeof t.integrity!="string"?pn:[t.crossOrigin,
t.integrity];break;default:if(i.unknownResources.hasOwnProperty(e)){if(a=i.unknownResources[e],a.hasOwnProperty(n))return}else
a={},i.unknownResources[e]=a;a[n]=pn,(i=l.headers)&&0<i.remainingCapacity&&e==="font"&&(f=gr(n,e,t),0<=(i.remainingCapacity-=
f.length+2))?(l.resets.font[n]=pn,i.fontPreloads&&(i.fontPreloads+=", "),i.fontPreloads+=f):(i=[],n=cn({rel:"preload",href:n,
as:e},t),tn(i,n),e)==="font"?l.fontPreloads.add(i):l.bulkPreloads.add(i)}_e(r)}}else zn.L(n,e,t)}function _u(n,e){var t=q||
null;if(t){var r=t.resumableState,i=t.renderState;if(n){var l=e&&typeof e.as=="string"?e.as:"script";switch(l){case"scri\
pt":if(r.moduleScriptResources.hasOwnProperty(n))return;l=[],r.moduleScriptResources[n]=!e||typeof e.crossOrigin!="strin\
g"&&typeof e.integrity!="string"?pn:[e.crossOrigin,e.integrity],i.preloads.moduleScripts.set(n,l);break;default:if(r.moduleUnknownResources.
hasOwnProperty(l)){var a=r.moduleUnknownResources[l];if(a.hasOwnProperty(n))return}else a={},r.moduleUnknownResources[l]=
a;l=[],a[n]=pn}tn(l,cn({rel:"modulepreload",href:n},e)),i.bulkPreloads.add(l),_e(t)}}else zn.m(n,e)}function Au(n,e,t){var r=q||
null;if(r){var i=r.resumableState,l=r.renderState;if(n){e=e||"default";var a=l.styles.get(e),u=i.styleResources.hasOwnProperty(
n)?i.styleResources[n]:void 0;u!==null&&(i.styleResources[n]=null,a||(a={precedence:E(e),rules:[],hrefs:[],sheets:new Map},
l.styles.set(e,a)),e={state:0,props:cn({rel:"stylesheet",href:n,"data-precedence":e},t)},u&&(u.length===2&&pt(e.props,u),
(l=l.preloads.stylesheets.get(n))&&0<l.length?l.length=0:e.state=1),a.sheets.set(n,e),_e(r))}}else zn.S(n,e,t)}function Su(n,e){
var t=q||null;if(t){var r=t.resumableState,i=t.renderState;if(n){var l=r.scriptResources.hasOwnProperty(n)?r.scriptResources[n]:
void 0;l!==null&&(r.scriptResources[n]=null,e=cn({src:n,async:!0},e),l&&(l.length===2&&pt(e,l),n=i.preloads.scripts.get(
n))&&(n.length=0),n=[],i.scripts.add(n),sr(n,e),_e(t))}}else zn.X(n,e)}function ku(n,e){var t=q||null;if(t){var r=t.resumableState,
i=t.renderState;if(n){var l=r.moduleScriptResources.hasOwnProperty(n)?r.moduleScriptResources[n]:void 0;l!==null&&(r.moduleScriptResources[n]=
null,e=cn({src:n,type:"module",async:!0},e),l&&(l.length===2&&pt(e,l),n=i.preloads.moduleScripts.get(n))&&(n.length=0),n=
[],i.scripts.add(n),sr(n,e),_e(t))}}else zn.M(n,e)}function pt(n,e){n.crossOrigin==null&&(n.crossOrigin=e[0]),n.integrity==
null&&(n.integrity=e[1])}function gr(n,e,t){n=(""+n).replace(Pi,mi),e=(""+e).replace(di,gi),e="<"+n+'>; rel=preload; as=\
"'+e+'"';for(var r in t)F.call(t,r)&&(n=t[r],typeof n=="string"&&(e+="; "+r.toLowerCase()+'="'+(""+n).replace(di,gi)+'"'));
return e}var Pi=/[<>\r\n]/g;function mi(n){switch(n){case"<":return"%3C";case">":return"%3E";case`
`:return"%0A";case"\r":return"%0D";default:throw Error("escapeLinkHrefForHeaderContextReplacer encountered a match it do\
es not know how to replace. this means the match regex and the replacement characters are no longer in sync. This is a b\
ug in React")}}var di=/["';,\r\n]/g;function gi(n){switch(n){case'"':return"%22";case"'":return"%27";case";":return"%3B";case"\
,":return"%2C";case`
`:return"%0A";case"\r":return"%0D";default:throw Error("escapeStringForLinkHeaderQuotedParamValueContextReplacer encount\
ered a match it does not know how to replace. this means the match regex and the replacement characters are no longer in\
 sync. This is a bug in React")}}function Ou(n){this.styles.add(n)}function Mu(n){this.stylesheets.add(n)}function Ke(n,e){
e.styles.forEach(Ou,n),e.stylesheets.forEach(Mu,n),e.suspenseyImages&&(n.suspenseyImages=!0)}function Fu(n,e){var t=n.idPrefix,
r=[],i=n.bootstrapScriptContent,l=n.bootstrapScripts,a=n.bootstrapModules;i!==void 0&&(r.push("<script"),lr(r,n),r.push(
">",(""+i).replace(fa,ca),"</script>")),i=t+"P:";var u=t+"S:";t+="B:";var o=new Set,f=new Set,c=new Set,h=new Map,d=new Set,
s=new Set,g=new Set,b={images:new Map,stylesheets:new Map,scripts:new Map,moduleScripts:new Map};if(l!==void 0)for(var C=0;C<
l.length;C++){var w=l[C],_,B=void 0,I=void 0,T={rel:"preload",as:"script",fetchPriority:"low",nonce:void 0};typeof w=="s\
tring"?T.href=_=w:(T.href=_=w.src,T.integrity=I=typeof w.integrity=="string"?w.integrity:void 0,T.crossOrigin=B=typeof w==
"string"||w.crossOrigin==null?void 0:w.crossOrigin==="use-credentials"?"use-credentials":""),w=n;var x=_;w.scriptResources[x]=
null,w.moduleScriptResources[x]=null,w=[],tn(w,T),d.add(w),r.push('<script src="',E(_),'"'),typeof I=="string"&&r.push('\
 integrity="',E(I),'"'),typeof B=="string"&&r.push(' crossorigin="',E(B),'"'),lr(r,n),r.push(' async=""></script>')}if(a!==
void 0)for(l=0;l<a.length;l++)T=a[l],B=_=void 0,I={rel:"modulepreload",fetchPriority:"low",nonce:void 0},typeof T=="stri\
ng"?I.href=C=T:(I.href=C=T.src,I.integrity=B=typeof T.integrity=="string"?T.integrity:void 0,I.crossOrigin=_=typeof T=="\
string"||T.crossOrigin==null?void 0:T.crossOrigin==="use-credentials"?"use-credentials":""),T=n,w=C,T.scriptResources[w]=
null,T.moduleScriptResources[w]=null,T=[],tn(T,I),d.add(T),r.push('<script type="module" src="',E(C),'"'),typeof B=="str\
ing"&&r.push(' integrity="',E(B),'"'),typeof _=="string"&&r.push(' crossorigin="',E(_),'"'),lr(r,n),r.push(' async=""></\
script>');return{placeholderPrefix:i,segmentPrefix:u,boundaryPrefix:t,startInlineScript:"<script",startInlineStyle:"<sty\
le",preamble:{htmlChunks:null,headChunks:null,bodyChunks:null},externalRuntimeScript:null,bootstrapChunks:r,importMapChunks:[],
onHeaders:void 0,headers:null,resets:{font:{},dns:{},connect:{default:{},anonymous:{},credentials:{}},image:{},style:{}},
charsetChunks:[],viewportChunks:[],hoistableChunks:[],preconnects:o,fontPreloads:f,highImagePreloads:c,styles:h,bootstrapScripts:d,
scripts:s,bulkPreloads:g,preloads:b,nonce:{script:void 0,style:void 0},stylesToHoist:!1,generateStaticMarkup:e}}function Hl(n,e,t,r){
return t.generateStaticMarkup?(n.push(E(e)),!1):(e===""?n=r:(r&&n.push("<!-- -->"),n.push(E(e)),n=!0),n)}function Tt(n,e,t,r){
e.generateStaticMarkup||t&&r&&n.push("<!-- -->")}var Nu=Function.prototype.bind,Iu=Symbol.for("react.client.reference");
function vr(n){if(n==null)return null;if(typeof n=="function")return n.$$typeof===Iu?null:n.displayName||n.name||null;if(typeof n==
"string")return n;switch(n){case ta:return"Fragment";case ia:return"Profiler";case ra:return"StrictMode";case Cr:return"\
Suspense";case pi:return"SuspenseList";case aa:return"Activity";case xi:return"ViewTransition"}if(typeof n=="object")switch(n.
$$typeof){case ea:return"Portal";case mr:return n.displayName||"Context";case la:return(n._context.displayName||"Context")+
".Consumer";case Ei:var e=n.render;return n=n.displayName,n||(n=e.displayName||e.name||"",n=n!==""?"ForwardRef("+n+")":"\
ForwardRef"),n;case wi:return e=n.displayName||null,e!==null?e:vr(n.type)||"Memo";case _r:e=n._payload,n=n._init;try{return vr(
n(e))}catch{}}return null}var Dl={},pe=null;function Sr(n,e){if(n!==e){n.context._currentValue2=n.parentValue,n=n.parent;
var t=e.parent;if(n===null){if(t!==null)throw Error(v(401))}else{if(t===null)throw Error(v(401));Sr(n,t)}e.context._currentValue2=
e.value}}function pa(n){n.context._currentValue2=n.parentValue,n=n.parent,n!==null&&pa(n)}function wa(n){var e=n.parent;
e!==null&&wa(e),n.context._currentValue2=n.value}function xa(n,e){if(n.context._currentValue2=n.parentValue,n=n.parent,n===
null)throw Error(v(402));n.depth===e.depth?Sr(n,e):xa(n,e)}function Ra(n,e){var t=e.parent;if(t===null)throw Error(v(402));
n.depth===t.depth?Sr(n,t):Ra(n,t),e.context._currentValue2=e.value}function $n(n){var e=pe;e!==n&&(e===null?wa(n):n===null?
pa(e):e.depth===n.depth?Sr(e,n):e.depth>n.depth?xa(e,n):Ra(e,n),pe=n)}var Bl={enqueueSetState:function(n,e){n=n._reactInternals,
n.queue!==null&&n.queue.push(e)},enqueueReplaceState:function(n,e){n=n._reactInternals,n.replace=!0,n.queue=[e]},enqueueForceUpdate:function(){}},
Lu={id:1,overflow:""};function Pa(n){var e=n.overflow;return n=n.id,(n&~(1<<32-ar(n)-1)).toString(32)+e}function ee(n,e,t){
var r=n.id;n=n.overflow;var i=32-ar(r)-1;r&=~(1<<i),t+=1;var l=32-ar(e)+i;if(30<l){var a=i-i%5;return l=(r&(1<<a)-1).toString(
32),r>>=a,i-=a,{id:1<<32-ar(e)+i|t<<i|r,overflow:l+n}}return{id:1<<l|t<<i|r,overflow:n}}var ar=Math.clz32?Math.clz32:Bu,
Hu=Math.log,Du=Math.LN2;function Bu(n){return n>>>=0,n===0?32:31-(Hu(n)/Du|0)|0}function fn(){}var on=Error(v(460));function zu(n,e,t){
switch(t=n[t],t===void 0?n.push(e):t!==e&&(e.then(fn,fn),e=t),e.status){case"fulfilled":return e.value;case"rejected":throw n=
e.reason,n===void 0&&!("reason"in e)?Error(v(600)):n;default:switch(typeof e.status=="string"?e.then(fn,fn):(n=e,n.status=
"pending",n.then(function(r){if(e.status==="pending"){var i=e;i.status="fulfilled",i.value=r}},function(r){if(e.status===
"pending"){var i=e;i.status="rejected",i.reason=r}})),e.status){case"fulfilled":return e.value;case"rejected":throw e.reason}
throw or=e,on}}var or=null;function yr(){if(or===null)throw Error(v(459));var n=or;return or=null,n}function Yu(n,e){return n===
e&&(n!==0||1/n===1/e)||n!==n&&e!==e}var Wu=typeof Object.is=="function"?Object.is:Yu,Yn=null,Ci=null,_i=null,Ai=null,ur=null,
k=null,vt=!1,br=!1,wt=0,xt=0,Rt=-1,Tr=0,Qe=null;function ma(n){if(n=n._reason,typeof n=="function")try{var e=n()}catch{e=
"The reason for browser-only rendering could not be determined because its initializer threw."}else e=n;return e=Error(v(
603),n===void 0?void 0:{cause:e}),Object.defineProperty(e,Ar,{value:!0}),e}function kr(n){return typeof n!="object"||n===
null?!1:n[Ar]===!0}function Si(n){var e=Error(v(604),F.call(n,"cause")?{cause:n.cause}:void 0);if(n=n.stack,n!==void 0){
var t=n.indexOf(`
`);e.stack=e.name+": "+e.message+(t===-1?"":n.slice(t))}else e.stack=void 0;return e}var te=null,Or=0;function Bn(){if(Yn===
null)throw Error(v(321));return Yn}function zl(){if(0<Or)throw Error(v(312));return{memoizedState:null,queue:null,next:null}}
function ki(){return k===null?ur===null?(vt=!1,ur=k=zl()):(vt=!0,k=ur):k.next===null?(vt=!1,k=k.next=zl()):(vt=!0,k=k.next),
k}function re(){var n=Qe;return Qe=null,n}function Pt(){Ai=_i=Ci=Yn=null,br=!1,ur=null,Or=0,k=te=null}function Ca(n,e){return typeof e==
"function"?e(n):e}function Yl(n,e,t){if(Yn=Bn(),k=ki(),vt){var r=k.queue;if(e=r.dispatch,te!==null&&(t=te.get(r),t!==void 0)){
te.delete(r),r=k.memoizedState;do r=n(r,t.action),t=t.next;while(t!==null);return k.memoizedState=r,[r,e]}return[k.memoizedState,
e]}return n=n===Ca?typeof e=="function"?e():e:t!==void 0?t(e):e,k.memoizedState=n,n=k.queue={last:null,dispatch:null},n=
n.dispatch=Uu.bind(null,Yn,n),[k.memoizedState,n]}function Wl(n,e){if(Yn=Bn(),k=ki(),e=e===void 0?null:e,k!==null){var t=k.
memoizedState;if(t!==null&&e!==null){var r=t[1];n:if(r===null)r=!1;else{for(var i=0;i<r.length&&i<e.length;i++)if(!Wu(e[i],
r[i])){r=!1;break n}r=!0}if(r)return t[0]}}return n=n(),k.memoizedState=[n,e],n}function Uu(n,e,t){if(25<=Or)throw Error(
v(301));if(n===Yn)if(br=!0,n={action:t,next:null},te===null&&(te=new Map),t=te.get(e),t===void 0)te.set(e,n);else{for(e=
t;e.next!==null;)e=e.next;e.next=n}}function Gu(){throw Error(v(440))}function Xu(){throw Error(v(394))}function Zu(){throw Error(
v(479))}function Ul(n,e,t){Bn();var r=xt++,i=_i;if(typeof n.$$FORM_ACTION=="function"){var l=null,a=Ai;i=i.formState;var u=n.
$$IS_SIGNATURE_EQUAL;if(i!==null&&typeof u=="function"){var o=i[1];u.call(n,i[2],i[3])&&(l=t!==void 0?"p"+t:"k"+Pl(JSON.
stringify([a,null,r]),0),o===l&&(Rt=r,e=i[0]))}var f=n.bind(null,e);return n=function(h){f(h)},typeof f.$$FORM_ACTION=="\
function"&&(n.$$FORM_ACTION=function(h){h=f.$$FORM_ACTION(h),t!==void 0&&(t+="",h.action=t);var d=h.data;return d&&(l===
null&&(l=t!==void 0?"p"+t:"k"+Pl(JSON.stringify([a,null,r]),0)),d.append("$ACTION_KEY",l)),h}),[e,n,!1]}var c=n.bind(null,
e);return[e,function(h){c(h)},!1]}function _a(n){var e=Tr;return Tr+=1,Qe===null&&(Qe=[]),zu(Qe,n,e)}function Vu(){throw Error(
v(393))}var Gl={readContext:function(n){return n._currentValue2},use:function(n){if(n!==null&&typeof n=="object"){if(typeof n.
then=="function")return _a(n);if(n.$$typeof===Ar)throw ma(n);if(n.$$typeof===mr)return n._currentValue2}throw Error(v(438,
String(n)))},useContext:function(n){return Bn(),n._currentValue2},useMemo:Wl,useReducer:Yl,useRef:function(n){Yn=Bn(),k=
ki();var e=k.memoizedState;return e===null?(n={current:n},k.memoizedState=n):e},useState:function(n){return Yl(Ca,n)},useInsertionEffect:fn,
useLayoutEffect:fn,useCallback:function(n,e){return Wl(function(){return n},e)},useImperativeHandle:fn,useEffect:fn,useDebugValue:fn,
useDeferredValue:function(n,e){return Bn(),e!==void 0?e:n},useTransition:function(){return Bn(),[!1,Xu]},useId:function(){
var n=Pa(Ci.treeContext),e=fr;if(e===null)throw Error(v(404));var t=wt++;return sa(e,n,t)},useSyncExternalStore:function(n,e,t){
if(t===void 0)throw Error(v(407));return t()},useOptimistic:function(n){return Bn(),[n,Zu]},useActionState:Ul,useFormState:Ul,
useHostTransitionStatus:function(){return Bn(),au},useMemoCache:function(n){for(var e=Array(n),t=0;t<n;t++)e[t]=qo;return e},
useCacheRefresh:function(){return Vu},useEffectEvent:function(){return Gu}},fr=null,Qu={getCacheForType:function(){throw Error(
v(248))},cacheSignal:function(){throw Error(v(248))}},li,Xl;function Ee(n){if(li===void 0)try{throw Error()}catch(t){var e=t.
stack.trim().match(/\n( *(at )?)/);li=e&&e[1]||"",Xl=-1<t.stack.indexOf(`
    at`)?" (<anonymous>)":-1<t.stack.indexOf("@")?"@unknown:0:0":""}return`
`+li+n+Xl}var ai=!1;function tr(n,e){if(!n||ai)return"";ai=!0;var t=Error.prepareStackTrace;Error.prepareStackTrace=void 0;
try{var r={DetermineComponentFrameRoot:function(){try{if(e){var h=function(){throw Error()};if(Object.defineProperty(h.prototype,
"props",{set:function(){throw Error()}}),typeof Reflect=="object"&&Reflect.construct){try{Reflect.construct(h,[])}catch(g){
var d=g}Reflect.construct(n,[],h)}else{try{h.call()}catch(g){d=g}h=!1;try{var s=Object.getOwnPropertyDescriptor(n.prototype,
"props");Object.defineProperty(n.prototype,"props",{configurable:!0,set:function(){throw Error()}}),h=!0,new n}finally{h&&
(s!==void 0?Object.defineProperty(n.prototype,"props",s):delete n.prototype.props)}}}else{try{throw Error()}catch(g){d=g}
(h=n())&&typeof h.catch=="function"&&h.catch(function(){})}}catch(g){if(g&&d&&typeof g.stack=="string")return[g.stack,d.
stack]}return[null,null]}};r.DetermineComponentFrameRoot.displayName="DetermineComponentFrameRoot";var i=Object.getOwnPropertyDescriptor(
r.DetermineComponentFrameRoot,"name");i&&i.configurable&&Object.defineProperty(r.DetermineComponentFrameRoot,"name",{value:"\
DetermineComponentFrameRoot"});var l=r.DetermineComponentFrameRoot(),a=l[0],u=l[1];if(a&&u){var o=a.split(`
`),f=u.split(`
`);for(i=r=0;r<o.length&&!o[r].includes("DetermineComponentFrameRoot");)r++;for(;i<f.length&&!f[i].includes("DetermineCo\
mponentFrameRoot");)i++;if(r===o.length||i===f.length)for(r=o.length-1,i=f.length-1;1<=r&&0<=i&&o[r]!==f[i];)i--;for(;1<=
r&&0<=i;r--,i--)if(o[r]!==f[i]){if(r!==1||i!==1)do if(r--,i--,0>i||o[r]!==f[i]){var c=`
`+o[r].replace(" at new "," at ");return n.displayName&&c.includes("<anonymous>")&&(c=c.replace("<anonymous>",n.displayName)),
c}while(1<=r&&0<=i);break}}}finally{ai=!1,Error.prepareStackTrace=t}return(t=n?n.displayName||n.name:"")?Ee(t):""}function Aa(n){
if(typeof n=="string")return Ee(n);if(typeof n=="function")return n.prototype&&n.prototype.isReactComponent?tr(n,!0):tr(
n,!1);if(typeof n=="object"&&n!==null){switch(n.$$typeof){case Ei:return tr(n.render,!1);case wi:return tr(n.type,!1);case _r:
var e=n,t=e._payload;e=e._init;try{n=e(t)}catch{return Ee("Lazy")}return Aa(n)}if(typeof n.name=="string"){n:{t=n.name,e=
n.env;var r=n.debugLocation;if(r!=null&&(n=Error.prepareStackTrace,Error.prepareStackTrace=void 0,r=r.stack,Error.prepareStackTrace=
n,r.startsWith(`Error: react-stack-top-frame
`)&&(r=r.slice(29)),n=r.indexOf(`
`),n!==-1&&(r=r.slice(n+1)),n=r.indexOf("react_stack_bottom_frame"),n!==-1&&(n=r.lastIndexOf(`
`,n)),n=n!==-1?r=r.slice(0,n):"",r=n.lastIndexOf(`
`),n=r===-1?n:n.slice(r+1),n.indexOf(t)!==-1)){t=`
`+n;break n}t=Ee(t+(e?" ["+e+"]":""))}return t}}switch(n){case pi:return Ee("SuspenseList");case Cr:return Ee("Suspense");case xi:
return Ee("ViewTransition")}return""}function qe(n,e){return(500<e.byteSize||e.defer)&&e.preamble===null}function Ju(n){
if(typeof n=="object"&&n!==null&&typeof n.environmentName=="string"){var e=n.environmentName;n=[n].slice(0),typeof n[0]==
"string"?n.splice(0,1,"[%s] "+n[0]," "+e+" "):n.splice(0,0,"[%s]"," "+e+" "),n.unshift(console),e=Nu.apply(console.error,
n),e()}else console.error(n);return null}function Ku(n,e,t,r,i,l,a,u,o,f,c){var h=new Set;this.destination=null,this.flushScheduled=
!1,this.resumableState=n,this.renderState=e,this.rootFormatContext=t,this.progressiveChunkSize=r===void 0?12800:r,this.status=
10,this.fatalError=null,this.aborted=!1,this.pendingRootTasks=this.allPendingTasks=this.nextSegmentId=0,this.completedPreambleSegments=
this.completedRootSegment=null,this.byteSize=0,this.abortableTasks=h,this.pingedTasks=[],this.currentTask=null,this.clientRenderedBoundaries=
[],this.completedBoundaries=[],this.partialBoundaries=[],this.postponedState=this.trackedPostpones=null,this.onError=i===
void 0?Ju:i,this.onBrowserBailout=l===void 0?fn:l,this.onAllReady=a===void 0?fn:a,this.onShellReady=u===void 0?fn:u,this.
onShellError=o===void 0?fn:o,this.onFatalError=f===void 0?fn:f,this.renderLifetimeController=null,this.formState=c===void 0?
null:c}function qu(n,e,t,r,i,l,a,u,o,f,c,h){return e=new Ku(e,t,r,i,l,a,u,o,f,c,h),t=xe(e,0,null,r,!1,!1),t.parentFlushed=
!0,n=pr(e,null,n,-1,null,t,null,null,e.abortableTasks,null,r,null,Lu,null,null),mt(n),e.pingedTasks.push(n),e}var q=null;
function Er(n,e){n.pingedTasks.push(e),n.pingedTasks.length===1&&(n.flushScheduled=n.destination!==null,Oa(n))}function Oi(n,e,t,r,i){
return t={status:0,rootSegmentID:-1,parentFlushed:!1,pendingTasks:0,row:e,completedSegments:[],byteSize:0,defer:i,fallbackAbortableTasks:t,
errorDigest:null,contentState:si(),fallbackState:si(),preamble:r,tracked:null},e!==null&&(e.pendingTasks++,r=e.boundaries,
r!==null&&(n.allPendingTasks++,t.pendingTasks++,r.push(t)),n=e.inheritedHoistables,n!==null&&Ke(t.contentState,n)),t}function pr(n,e,t,r,i,l,a,u,o,f,c,h,d,s,g){
n.allPendingTasks++,i===null?n.pendingRootTasks++:i.pendingTasks++,s!==null&&s.pendingTasks++;var b={replay:null,node:t,
childIndex:r,ping:{resolve:function(){return Er(n,b)},reject:function(C){n.aborted?b.abortSet.delete(b)&&me(b,n,C):Er(n,
b)}},blockedBoundary:i,blockedSegment:l,blockedPreamble:a,hoistableState:u,abortSet:o,keyPath:f,formatContext:c,context:h,
treeContext:d,row:s,componentStack:g,thenableState:e};return o.add(b),b}function Sa(n,e,t,r,i,l,a,u,o,f,c,h,d,s){n.allPendingTasks++,
l===null?n.pendingRootTasks++:l.pendingTasks++,d!==null&&d.pendingTasks++,t.pendingTasks++;var g={replay:t,node:r,childIndex:i,
ping:{resolve:function(){return Er(n,g)},reject:function(b){n.aborted?g.abortSet.delete(g)&&me(g,n,b):Er(n,g)}},blockedBoundary:l,
blockedSegment:null,blockedPreamble:null,hoistableState:a,abortSet:u,keyPath:o,formatContext:f,context:c,treeContext:h,row:d,
componentStack:s,thenableState:e};return u.add(g),g}function xe(n,e,t,r,i,l){return{status:0,parentFlushed:!1,id:-1,index:e,
chunks:[],children:[],preambleChildren:[],parentFormatContext:r,boundary:t,lastPushedText:i,textEmbedded:l}}function mt(n){
var e=n.node;typeof e=="object"&&e!==null&&e.$$typeof===na&&(n.componentStack={parent:n.componentStack,type:e.type})}function vi(n){
return n===null?null:{parent:n.parent,type:"Suspense Fallback"}}function Pe(n){var e={};return n&&Object.defineProperty(
e,"componentStack",{configurable:!0,enumerable:!0,get:function(){try{var t="",r=n;do t+=Aa(r.type),r=r.parent;while(r);var i=t}catch(l){
i=`
Error generating stack: `+l.message+`
`+l.stack}return Object.defineProperty(e,"componentStack",{value:i}),i}}),e}function Z(n,e,t){if(kr(e))return n=n.onBrowserBailout,
n(e,t),"";if(n=n.onError,e=n(e,t),e==null||typeof e=="string")return e===""?void 0:e}function Re(n,e){var t=n.onShellError,
r=n.onFatalError;n.pendingRootTasks!==0&&t(e),r(e),Li(n),n.destination!==null?(n.status=13,n.destination.destroy(e)):(n.
status=12,n.aborted||(n.fatalError=e))}function rn(n,e){Mi(n,e.next,e.hoistables)}function Mi(n,e,t){for(;e!==null;){t!==
null&&(Ke(e.hoistables,t),e.inheritedHoistables=t);var r=e.boundaries;if(r!==null){e.boundaries=null;for(var i=0;i<r.length;i++){
var l=r[i];t!==null&&Ke(l.contentState,t),Ce(n,l,null,null)}}if(e.pendingTasks--,0<e.pendingTasks)break;t=e.hoistables,e=
e.next}}function yi(n,e){var t=e.boundaries;if(t!==null&&e.pendingTasks===t.length){for(var r=!0,i=0;i<t.length;i++){var l=t[i];
if(l.pendingTasks!==1||l.parentFlushed||qe(n,l)){r=!1;break}}r&&Mi(n,e,e.hoistables)}}function yt(n){var e={pendingTasks:1,
boundaries:null,hoistables:si(),inheritedHoistables:null,together:!1,next:null};return n!==null&&0<n.pendingTasks&&(e.pendingTasks++,
e.boundaries=[],n.next=e),e}function Zl(n,e,t,r,i){var l=e.keyPath,a=e.treeContext,u=e.row;e.keyPath=t,t=r.length;var o=null;
if(e.replay!==null){var f=e.replay.slots;if(f!==null&&typeof f=="object")for(var c=0;c<t;c++){var h=i!=="backwards"&&i!==
"unstable_legacy-backwards"?c:t-1-c,d=r[h];e.row=o=yt(o),e.treeContext=ee(a,t,h);var s=f[h];typeof s=="number"?(Mr(n,e,s,
d,h),delete f[h]):G(n,e,d,h),--o.pendingTasks===0&&rn(n,o)}else for(f=0;f<t;f++)c=i!=="backwards"&&i!=="unstable_legacy-\
backwards"?f:t-1-f,h=r[c],e.row=o=yt(o),e.treeContext=ee(a,t,c),G(n,e,h,c),--o.pendingTasks===0&&rn(n,o)}else if(i!=="ba\
ckwards"&&i!=="unstable_legacy-backwards")for(i=0;i<t;i++)f=r[i],e.row=o=yt(o),e.treeContext=ee(a,t,i),G(n,e,f,i),--o.pendingTasks===
0&&rn(n,o);else{for(f=e.blockedSegment,c=f.children.length,h=f.chunks.length,d=0;d<t;d++){s=i==="unstable_legacy-backwar\
ds"?t-1-d:d;var g=r[s];e.row=o=yt(o),e.treeContext=ee(a,t,s);var b=xe(n,h,null,e.formatContext,s===0?f.lastPushedText:!0,
!0);f.children.splice(c,0,b),e.blockedSegment=b;try{G(n,e,g,s),Tt(b.chunks,n.renderState,b.lastPushedText,b.textEmbedded),
b.status=1,--o.pendingTasks===0&&rn(n,o)}catch(C){throw b.status=n.aborted?3:4,C}}e.blockedSegment=f,f.lastPushedText=!1}
u!==null&&o!==null&&0<o.pendingTasks&&(u.pendingTasks++,o.next=u),e.treeContext=a,e.row=u,e.keyPath=l}function Vl(n,e,t,r,i,l){
var a=e.thenableState;for(e.thenableState=null,Yn={},Ci=e,_i=n,Ai=t,xt=wt=0,Rt=-1,Tr=0,Qe=a,n=r(i,l);br;)br=!1,xt=wt=0,Rt=
-1,Tr=0,Or+=1,k=null,n=r(i,l);return Pt(),n}function Ql(n,e,t,r,i,l,a){var u=!1;if(l!==0&&n.formState!==null){var o=e.blockedSegment;
if(o!==null){u=!0,o=o.chunks;for(var f=0;f<l;f++)f===a?o.push("<!--F!-->"):o.push("<!--F-->")}}l=e.keyPath,e.keyPath=t,i?
(t=e.treeContext,e.treeContext=ee(t,1,0),G(n,e,r,-1),e.treeContext=t):u?G(n,e,r,-1):bn(n,e,r,-1),e.keyPath=l}function wr(n,e,t,r,i,l){
if(typeof r=="function")if(r.prototype&&r.prototype.isReactComponent){var a=i;if("ref"in i){a={};for(var u in i)u!=="ref"&&
(a[u]=i[u])}var o=r.defaultProps;if(o){a===i&&(a=cn({},a,i));for(var f in o)a[f]===void 0&&(a[f]=o[f])}var c=a,h=Dl,d=r.
contextType;typeof d=="object"&&d!==null&&(h=d._currentValue2);var s=new r(c,h),g=s.state!==void 0?s.state:null;s.updater=
Bl,s.props=c,s.state=g;var b={queue:[],replace:!1};s._reactInternals=b;var C=r.contextType;s.context=typeof C=="object"&&
C!==null?C._currentValue2:Dl;var w=r.getDerivedStateFromProps;if(typeof w=="function"){var _=w(c,g),B=_==null?g:cn({},g,
_);s.state=B}if(typeof r.getDerivedStateFromProps!="function"&&typeof s.getSnapshotBeforeUpdate!="function"&&(typeof s.UNSAFE_componentWillMount==
"function"||typeof s.componentWillMount=="function")){var I=s.state;if(typeof s.componentWillMount=="function"&&s.componentWillMount(),
typeof s.UNSAFE_componentWillMount=="function"&&s.UNSAFE_componentWillMount(),I!==s.state&&Bl.enqueueReplaceState(s,s.state,
null),b.queue!==null&&0<b.queue.length){var T=b.queue,x=b.replace;if(b.queue=null,b.replace=!1,x&&T.length===1)s.state=T[0];else{
for(var O=x?T[0]:s.state,sn=!0,p=x?1:0;p<T.length;p++){var L=T[p],H=typeof L=="function"?L.call(s,O,c,void 0):L;H!=null&&
(sn?(sn=!1,O=cn({},O,H)):cn(O,H))}s.state=O}}else b.queue=null}var X=s.render();if(n.aborted)throw null;var M=e.keyPath;
e.keyPath=t,bn(n,e,X,-1),e.keyPath=M}else{var un=Vl(n,e,t,r,i,void 0);if(n.aborted)throw null;Ql(n,e,t,un,wt!==0,xt,Rt)}else if(typeof r==
"string"){var z=e.blockedSegment;if(z===null){var Wn=i.children,dn=e.formatContext,W=e.keyPath;e.formatContext=_l(dn,r,i),
e.keyPath=t,G(n,e,Wn,-1),e.formatContext=dn,e.keyPath=W}else{var le=cu(z.chunks,r,i,n.resumableState,n.renderState,e.blockedPreamble,
e.hoistableState,e.formatContext,z.lastPushedText);z.lastPushedText=!1;var V=e.formatContext,An=e.keyPath;if(e.keyPath=t,
(e.formatContext=_l(V,r,i)).insertionMode===3){var Q=xe(n,0,null,e.formatContext,!1,!1);z.preambleChildren.push(Q),e.blockedSegment=
Q;try{G(n,e,le,-1),Tt(Q.chunks,n.renderState,Q.lastPushedText,Q.textEmbedded),Q.status=1}finally{e.blockedSegment=z}}else
G(n,e,le,-1);e.formatContext=V,e.keyPath=An;n:{var Tn=z.chunks,wn=n.resumableState;switch(r){case"title":case"style":case"\
script":case"area":case"base":case"br":case"col":case"embed":case"hr":case"img":case"input":case"keygen":case"link":case"\
meta":case"param":case"source":case"track":case"wbr":break n;case"body":if(1>=V.insertionMode){wn.hasBody=!0;break n}break;case"\
html":if(V.insertionMode===0){wn.hasHtml=!0;break n}break;case"head":if(1>=V.insertionMode)break n}Tn.push(we(r))}z.lastPushedText=
!1}}else{switch(r){case Ko:case ra:case ia:case ta:var Sn=e.keyPath;e.keyPath=t,bn(n,e,i.children,-1),e.keyPath=Sn;return;case aa:
var N=e.blockedSegment;if(N===null){if(i.mode!=="hidden"){var Ln=e.keyPath;e.keyPath=t,G(n,e,i.children,-1),e.keyPath=Ln}}else if(i.
mode!=="hidden"){n.renderState.generateStaticMarkup||N.chunks.push("<!--&-->"),N.lastPushedText=!1;var ae=e.keyPath;e.keyPath=
t,G(n,e,i.children,-1),e.keyPath=ae,n.renderState.generateStaticMarkup||N.chunks.push("<!--/&-->"),N.lastPushedText=!1}return;case pi:
n:{var kn=i.children,Un=i.revealOrder;if(Un!=="independent"&&Un!=="together"){if(hr(kn)){Zl(n,e,t,kn,Un);break n}var et=oa(
kn);if(et){var Oe=et.call(kn);if(Oe){var Me=Oe.next();if(!Me.done){do Me=Oe.next();while(!Me.done);Zl(n,e,t,kn,Un)}break n}}}
if(Un==="together"){var zt=e.keyPath,On=e.row,$=e.row=yt(null);$.boundaries=[],$.together=!0,e.keyPath=t,bn(n,e,kn,-1),--$.
pendingTasks===0&&rn(n,$),e.keyPath=zt,e.row=On,On!==null&&0<$.pendingTasks&&(On.pendingTasks++,$.next=On)}else{var Yt=e.
keyPath;e.keyPath=t,bn(n,e,kn,-1),e.keyPath=Yt}}return;case xi:var tt=e.formatContext,oe=e.keyPath,Wt=n.resumableState;if(i.
name==null||i.name==="auto"){var Hn=Pa(e.treeContext);sa(Wt,Hn,0)}if(e.formatContext=tt,e.keyPath=t,i.name!=null&&i.name!==
"auto")bn(n,e,i.children,-1);else{var Gn=e.treeContext;e.treeContext=ee(Gn,1,0),G(n,e,i.children,-1),e.treeContext=Gn}e.
formatContext=tt,e.keyPath=oe;return;case Jo:throw Error(v(343));case Cr:n:if(e.replay!==null){var ue=e.keyPath,Xn=e.formatContext,
fe=e.row;e.keyPath=t,e.formatContext=ir(n.resumableState,Xn),e.row=null;var Mn=i.children;try{G(n,e,Mn,-1)}finally{e.keyPath=
ue,e.formatContext=Xn,e.row=fe}}else{var Fe=e.keyPath,Zn=e.formatContext,ln=e.row,rt=e.blockedBoundary,ce=e.blockedPreamble,
Ut=e.hoistableState,xn=e.blockedSegment,it=i.fallback,Vn=i.children,Qn=new Set,A=Oi(n,e.row,Qn,null,!1),Rn=xe(n,xn.chunks.
length,A,e.formatContext,!1,!1);xn.children.push(Rn),xn.lastPushedText=!1;var En=xe(n,0,null,e.formatContext,!1,!1);En.parentFlushed=
!0;var lt=n.trackedPostpones;if(lt!==null){var Ne=e.componentStack,Ie=[t[0],"Suspense Fallback",t[2]];if(lt!==null){var Gt=[
Ie[1],Ie[2],[],null];lt.workingMap.set(Ie,Gt),A.tracked={contentKeyPath:t,fallbackNode:Gt}}e.blockedSegment=Rn,e.blockedPreamble=
A.preamble===null?null:A.preamble.fallback,e.keyPath=Ie,e.formatContext=fi(n.resumableState,Zn),e.componentStack=vi(Ne);
try{G(n,e,it,-1),Tt(Rn.chunks,n.renderState,Rn.lastPushedText,Rn.textEmbedded),Rn.status=1}catch(Fn){throw Rn.status=n.aborted?
3:4,Fn}finally{e.blockedSegment=xn,e.blockedPreamble=ce,e.keyPath=Fe,e.formatContext=Zn}var Xt=pr(n,null,Vn,-1,A,En,A.preamble===
null?null:A.preamble.content,A.contentState,e.abortSet,t,ir(n.resumableState,e.formatContext),e.context,e.treeContext,null,
Ne);mt(Xt),n.pingedTasks.push(Xt)}else{e.blockedBoundary=A,e.blockedPreamble=A.preamble===null?null:A.preamble.content,e.
hoistableState=A.contentState,e.blockedSegment=En,e.keyPath=t,e.formatContext=ir(n.resumableState,Zn),e.row=null;try{if(G(
n,e,Vn,-1),Tt(En.chunks,n.renderState,En.lastPushedText,En.textEmbedded),En.status=1,Ct(A,En),A.pendingTasks===0&&A.status===
0){if(A.status=1,!qe(n,A)){ln!==null&&--ln.pendingTasks===0&&rn(n,ln),n.pendingRootTasks===0&&e.blockedPreamble&&kt(n);break n}}else
ln!==null&&ln.together&&yi(n,ln)}catch(Fn){if(A.status=4,n.aborted){En.status=3;var Pn=n.fatalError}else En.status=4,Pn=
Fn;var Le=Pe(e.componentStack),he=Z(n,Pn,Le);A.errorDigest=he,Fi(n,A)}finally{e.blockedBoundary=rt,e.blockedPreamble=ce,
e.hoistableState=Ut,e.blockedSegment=xn,e.keyPath=Fe,e.formatContext=Zn,e.row=ln}var Dn=pr(n,null,it,-1,rt,Rn,A.preamble===
null?null:A.preamble.fallback,A.fallbackState,Qn,[t[0],"Suspense Fallback",t[2]],fi(n.resumableState,e.formatContext),e.
context,e.treeContext,e.row,vi(e.componentStack));mt(Dn),n.pingedTasks.push(Dn)}}return}if(typeof r=="object"&&r!==null)
switch(r.$$typeof){case Ei:if("ref"in i){var Jn={};for(var Kn in i)Kn!=="ref"&&(Jn[Kn]=i[Kn])}else Jn=i;var at=Vl(n,e,t,
r.render,Jn,l);Ql(n,e,t,at,wt!==0,xt,Rt);return;case wi:wr(n,e,t,r.type,i,l);return;case mr:var Zt=i.children,zr=e.keyPath,
He=i.value,Vt=r._currentValue2;r._currentValue2=He;var qn=pe,se={parent:qn,depth:qn===null?0:qn.depth+1,context:r,parentValue:Vt,
value:He};pe=se,e.context=se,e.keyPath=t,bn(n,e,Zt,-1);var de=pe;if(de===null)throw Error(v(403));de.context._currentValue2=
de.parentValue;var De=pe=de.parent;e.context=De,e.keyPath=zr;return;case la:var ot=i.children,Qt=ot(r._context._currentValue2),
Jt=e.keyPath;e.keyPath=t,bn(n,e,Qt,-1),e.keyPath=Jt;return;case _r:var Yr=r._init,Be=Yr(r._payload);if(n.aborted)throw null;
wr(n,e,t,Be,i,l);return}throw Error(v(130,r==null?r:typeof r,""))}}function Mr(n,e,t,r,i){var l=e.replay,a=e.blockedBoundary,
u=xe(n,0,null,e.formatContext,!1,!1);u.id=t,u.parentFlushed=!0;try{e.replay=null,e.blockedSegment=u,G(n,e,r,i),u.status=
1,a===null?n.completedRootSegment=u:(Ct(a,u),a.parentFlushed&&n.partialBoundaries.push(a))}finally{e.replay=l,e.blockedSegment=
null}}function bn(n,e,t,r){e.replay!==null&&typeof e.replay.slots=="number"?Mr(n,e,e.replay.slots,t,r):(e.node=t,e.childIndex=
r,t=e.componentStack,mt(e),bi(n,e),e.componentStack=t)}function bi(n,e){var t=e.node,r=e.childIndex;if(t!==null){if(typeof t==
"object"){switch(t.$$typeof){case na:var i=t.type,l=t.key,a=t.props;t=a.ref;var u=t!==void 0?t:null,o=vr(i),f=l==null||l===
jo?r===-1?0:r:l;if(l=[e.keyPath,o,f],e.replay!==null)n:{var c=e.replay;for(r=c.nodes,t=0;t<r.length;t++){var h=r[t];if(f===
h[1]){if(h.length===4){if(o!==null&&o!==h[0])throw Error(v(490,h[0],o));var d=h[2],s=h[3],g=e.node;e.replay={nodes:d,slots:s,
pendingTasks:1};try{if(wr(n,e,l,i,a,u),e.replay.pendingTasks===1&&0<e.replay.nodes.length)throw Error(v(488));e.replay.pendingTasks--}catch(O){
if(typeof O=="object"&&O!==null&&(O===on||typeof O.then=="function"||O.message==="Maximum call stack size exceeded"))throw e.
node===g?e.replay=c:r.splice(t,1),O;e.replay.pendingTasks--,l=Pe(e.componentStack),g=n,a=e.blockedBoundary,n=n.aborted?n.
fatalError:O,l=Z(g,n,l),St(g,a,d,s,n,l)}e.replay=c}else{if(i!==Cr)throw Error(v(490,"Suspense",vr(i)||"Unknown"));e:{c=h[5],
i=h[2],u=h[3],o=h[4]===null?[]:h[4][2],h=h[4]===null?null:h[4][3],f=e.keyPath;var b=e.formatContext,C=e.row,w=e.replay,_=e.
blockedBoundary,B=e.hoistableState,I=a.children;a=a.fallback;var T=new Set,x=Oi(n,e.row,T,null,!1);x.parentFlushed=!0,x.
rootSegmentID=c,e.blockedBoundary=x,e.hoistableState=x.contentState,e.keyPath=l,e.formatContext=ir(n.resumableState,b),e.
row=null,e.replay={nodes:i,slots:u,pendingTasks:1};try{if(G(n,e,I,-1),e.replay.pendingTasks===1&&0<e.replay.nodes.length)
throw Error(v(488));if(e.replay.pendingTasks--,x.pendingTasks===0&&x.status===0){x.status=1,n.completedBoundaries.push(x);
break e}}catch(O){x.status=4,d=n.aborted?n.fatalError:O,s=Pe(e.componentStack),g=Z(n,d,s),x.errorDigest=g,e.replay.pendingTasks--,
n.clientRenderedBoundaries.push(x)}finally{e.blockedBoundary=_,e.hoistableState=B,e.replay=w,e.keyPath=f,e.formatContext=
b,e.row=C}d=Sa(n,null,{nodes:o,slots:h,pendingTasks:0},a,-1,_,x.fallbackState,T,[l[0],"Suspense Fallback",l[2]],fi(n.resumableState,
e.formatContext),e.context,e.treeContext,e.row,vi(e.componentStack)),mt(d),n.pingedTasks.push(d)}}r.splice(t,1);break n}}}else
wr(n,e,l,i,a,u);return;case ea:throw Error(v(257));case _r:if(d=t._init,t=d(t._payload),n.aborted)throw null;bn(n,e,t,r);
return}if(hr(t)){Ti(n,e,t,r);return}if((d=oa(t))&&(d=d.call(t))){if(t=d.next(),!t.done){s=[];do s.push(t.value),t=d.next();while(!t.
done);Ti(n,e,s,r)}return}if(typeof t.then=="function")return e.thenableState=null,bn(n,e,_a(t),r);if(t.$$typeof===mr)return bn(
n,e,t._currentValue2,r);throw r=Object.prototype.toString.call(t),Error(v(31,r==="[object Object]"?"object with keys {"+
Object.keys(t).join(", ")+"}":r))}typeof t=="string"?(r=e.blockedSegment,r!==null&&(r.lastPushedText=Hl(r.chunks,t,n.renderState,
r.lastPushedText))):(typeof t=="number"||typeof t=="bigint")&&(r=e.blockedSegment,r!==null&&(r.lastPushedText=Hl(r.chunks,
""+t,n.renderState,r.lastPushedText)))}}function Ti(n,e,t,r){var i=e.keyPath;if(r!==-1&&(e.keyPath=[e.keyPath,"Fragment",
r],e.replay!==null)){for(var l=e.replay,a=l.nodes,u=0;u<a.length;u++){var o=a[u];if(o[1]===r){r=o[2],o=o[3],e.replay={nodes:r,
slots:o,pendingTasks:1};try{if(Ti(n,e,t,-1),e.replay.pendingTasks===1&&0<e.replay.nodes.length)throw Error(v(488));e.replay.
pendingTasks--}catch(h){if(typeof h=="object"&&h!==null&&(h===on||typeof h.then=="function"))throw h;e.replay.pendingTasks--;
var f=Pe(e.componentStack);t=n;var c=e.blockedBoundary;n=n.aborted?n.fatalError:h,f=Z(t,n,f),St(t,c,r,o,n,f)}e.replay=l,
a.splice(u,1);break}}e.keyPath=i;return}if(l=e.treeContext,a=t.length,e.replay!==null&&(u=e.replay.slots,u!==null&&typeof u==
"object")){for(r=0;r<a;r++)o=t[r],e.treeContext=ee(l,a,r),c=u[r],typeof c=="number"?(Mr(n,e,c,o,r),delete u[r]):G(n,e,o,
r);e.treeContext=l,e.keyPath=i;return}for(u=0;u<a;u++)r=t[u],e.treeContext=ee(l,a,u),G(n,e,r,u);e.treeContext=l,e.keyPath=
i}function ka(n,e,t){t.status=5,t.rootSegmentID=n.nextSegmentId++;var r=t.tracked;if(r===null||(n=r.contentKeyPath,n===null))
throw Error(v(486));r=r.fallbackNode;var i=[],l=e.workingMap.get(n);return l===void 0?(t=[n[1],n[2],i,null,r,t.rootSegmentID],
e.workingMap.set(n,t),Pr(t,n[0],e),t):(l[4]=r,l[5]=t.rootSegmentID,l)}function Jl(n,e,t,r){r.status=5;var i=t.keyPath,l=t.
blockedBoundary;if(l===null)r.id=n.nextSegmentId++,e.rootSlots=r.id,n.completedRootSegment!==null&&(n.completedRootSegment.
status=5);else{if(l!==null&&l.status===0){var a=ka(n,e,l);if(l.tracked!==null&&l.tracked.contentKeyPath===i&&t.childIndex===
-1){r.id===-1&&(r.id=r.parentFlushed?l.rootSegmentID:n.nextSegmentId++),a[3]=r.id;return}}if(r.id===-1&&(r.id=r.parentFlushed&&
l!==null?l.rootSegmentID:n.nextSegmentId++),t.childIndex===-1)i===null?e.rootSlots=r.id:(t=e.workingMap.get(i),t===void 0?
(t=[i[1],i[2],[],r.id],Pr(t,i[0],e)):t[3]=r.id);else{if(i===null){if(n=e.rootSlots,n===null)n=e.rootSlots={};else if(typeof n==
"number")throw Error(v(491))}else if(l=e.workingMap,a=l.get(i),a===void 0)n={},a=[i[1],i[2],[],n],l.set(i,a),Pr(a,i[0],e);else if(n=
a[3],n===null)n=a[3]={};else if(typeof n=="number")throw Error(v(491));n[t.childIndex]=r.id}}}function Fi(n,e){n=n.trackedPostpones,
n!==null&&(e=e.tracked,e!==null&&(e=e.contentKeyPath,e!==null&&(n=n.workingMap.get(e),n!==void 0&&(n.length=4,n[2]=[],n[3]=
null))))}function Kl(n,e,t){return Sa(n,t,e.replay,e.node,e.childIndex,e.blockedBoundary,e.hoistableState,e.abortSet,e.keyPath,
e.formatContext,e.context,e.treeContext,e.row,e.componentStack)}function ql(n,e,t){var r=e.blockedSegment,i=xe(n,r.chunks.
length,null,e.formatContext,r.lastPushedText,!0);return r.children.push(i),r.lastPushedText=!1,pr(n,t,e.node,e.childIndex,
e.blockedBoundary,i,e.blockedPreamble,e.hoistableState,e.abortSet,e.keyPath,e.formatContext,e.context,e.treeContext,e.row,
e.componentStack)}function G(n,e,t,r){var i=e.formatContext,l=e.context,a=e.keyPath,u=e.treeContext,o=e.componentStack,f=e.
blockedSegment;if(f===null){f=e.replay;try{return bn(n,e,t,r)}catch(d){if(Pt(),t=d===on?yr():d,!n.aborted&&typeof t=="ob\
ject"&&t!==null){if(typeof t.then=="function"){r=d===on?re():null,n=Kl(n,e,r).ping,t.then(n.resolve,n.reject),e.formatContext=
i,e.context=l,e.keyPath=a,e.treeContext=u,e.componentStack=o,e.replay=f,$n(l);return}if(t.message==="Maximum call stack \
size exceeded"){t=d===on?re():null,t=Kl(n,e,t),n.pingedTasks.push(t),e.formatContext=i,e.context=l,e.keyPath=a,e.treeContext=
u,e.componentStack=o,e.replay=f,$n(l);return}}}}else{var c=f.children.length,h=f.chunks.length;try{return bn(n,e,t,r)}catch(d){
if(Pt(),f.children.length=c,f.chunks.length=h,t=d===on?yr():d,!n.aborted&&typeof t=="object"&&t!==null){if(typeof t.then==
"function"){f=t,t=d===on?re():null,n=ql(n,e,t).ping,f.then(n.resolve,n.reject),e.formatContext=i,e.context=l,e.keyPath=a,
e.treeContext=u,e.componentStack=o,$n(l);return}if(t.message==="Maximum call stack size exceeded"){f=d===on?re():null,f=
ql(n,e,f),n.pingedTasks.push(f),e.formatContext=i,e.context=l,e.keyPath=a,e.treeContext=u,e.componentStack=o,$n(l);return}}}}
throw e.formatContext=i,e.context=l,e.keyPath=a,e.treeContext=u,$n(l),t}function ju(n){var e=n.blockedBoundary,t=n.blockedSegment;
t!==null&&(t.status=3,Ce(this,e,n.row,t))}function St(n,e,t,r,i,l){for(var a=0;a<t.length;a++){var u=t[a];if(u.length===
4)St(n,e,u[2],u[3],i,l);else{u=u[5];var o=n,f=l,c=Oi(o,null,new Set,null,!1);c.parentFlushed=!0,c.rootSegmentID=u,c.status=
4,c.errorDigest=f,c.parentFlushed&&o.clientRenderedBoundaries.push(c)}}if(t.length=0,r!==null){if(e===null)throw Error(v(
487));if(e.status!==4&&(e.status=4,e.errorDigest=l,e.parentFlushed&&n.clientRenderedBoundaries.push(e)),typeof r=="objec\
t")for(var h in r)delete r[h]}}function xr(n,e){if(n!==e.currentTask){var t=n.blockedBoundary;n=n.blockedSegment,n!==null&&
(n.status=3),t!==null&&t.fallbackAbortableTasks.forEach(function(r){return xr(r,e)})}}function me(n,e,t){if(n!==e.currentTask){
var r=n.blockedBoundary,i=n.blockedSegment;if(i===null||i.status===3){var l=Pe(n.componentStack),a=kr(t);if(r===null){if(r=
n.replay,r===null){a||e.trackedPostpones===null||i===null?a?(n=Si(t),Z(e,n,l),e.status!==12&&e.status!==13&&Re(e,n)):(Z(
e,t,l),e.status!==12&&e.status!==13&&Re(e,t)):(r=e.trackedPostpones,Z(e,t,l),Jl(e,r,n,i),Ce(e,null,n.row,i));return}e.status!==
12&&e.status!==13&&(r.pendingTasks--,r.pendingTasks===0&&0<r.nodes.length&&(l=Z(e,t,l),St(e,null,r.nodes,r.slots,t,l)),e.
pendingRootTasks--,e.pendingRootTasks===0&&Ii(e))}else{var u=e.trackedPostpones;if(r.status!==4){if(!a&&u!==null&&i!==null)
return Z(e,t,l),Jl(e,u,n,i),r.fallbackAbortableTasks.forEach(function(o){return me(o,e,t)}),r.fallbackAbortableTasks.clear(),
Ce(e,r,n.row,i);r.status=4,l=Z(e,t,l),r.errorDigest=l,Fi(e,r),r.parentFlushed&&e.clientRenderedBoundaries.push(r)}r.pendingTasks--,
l=r.row,l!==null&&--l.pendingTasks===0&&rn(e,l),r.fallbackAbortableTasks.forEach(function(o){return me(o,e,t)}),r.fallbackAbortableTasks.
clear()}n=n.row,n!==null&&--n.pendingTasks===0&&rn(e,n),e.allPendingTasks--,e.allPendingTasks===0&&Rr(e)}}}function Ni(n,e){
try{var t=n.renderState,r=t.onHeaders;if(r){var i=t.headers;if(i){t.headers=null;var l=i.preconnects;if(i.fontPreloads&&
(l&&(l+=", "),l+=i.fontPreloads),i.highImagePreloads&&(l&&(l+=", "),l+=i.highImagePreloads),!e){var a=t.styles.values(),
u=a.next();n:for(;0<i.remainingCapacity&&!u.done;u=a.next())for(var o=u.value.sheets.values(),f=o.next();0<i.remainingCapacity&&
!f.done;f=o.next()){var c=f.value,h=c.props,d=h.href,s=c.props,g=gr(s.href,"style",{crossOrigin:s.crossOrigin,integrity:s.
integrity,nonce:s.nonce,type:s.type,fetchPriority:s.fetchPriority,referrerPolicy:s.referrerPolicy,media:s.media});if(0<=
(i.remainingCapacity-=g.length+2))t.resets.style[d]=pn,l&&(l+=", "),l+=g,t.resets.style[d]=typeof h.crossOrigin=="string"||
typeof h.integrity=="string"?[h.crossOrigin,h.integrity]:pn;else break n}}r(l?{Link:l}:{})}}}catch(b){Z(n,b,{})}}function Ii(n){
n.trackedPostpones===null&&Ni(n,!0),n.trackedPostpones===null&&kt(n),n=n.onShellReady,n()}function Rr(n){Ni(n,n.trackedPostpones===
null?!0:n.completedRootSegment===null||n.completedRootSegment.status!==5),kt(n),n=n.onAllReady,n()}function Ct(n,e){if(e.
chunks.length===0&&e.children.length===1&&e.children[0].boundary===null&&e.children[0].id===-1){var t=e.children[0];t.id=
e.id,t.parentFlushed=!0,t.status!==1&&t.status!==3&&t.status!==4||Ct(n,t)}else n.completedSegments.push(e)}function Ce(n,e,t,r){
if(t!==null&&(--t.pendingTasks===0?rn(n,t):t.together&&yi(n,t)),n.allPendingTasks--,e===null){if(r!==null&&r.parentFlushed){
if(n.completedRootSegment!==null)throw Error(v(389));n.completedRootSegment=r}n.pendingRootTasks--,n.pendingRootTasks===
0&&Ii(n)}else if(e.pendingTasks--,e.status!==4)if(e.pendingTasks===0){if(e.status===0&&(e.status=1),r!==null&&r.parentFlushed&&
(r.status===1||r.status===3)&&Ct(e,r),e.parentFlushed&&n.completedBoundaries.push(e),e.status===1)t=e.row,t!==null&&Ke(t.
hoistables,e.contentState),qe(n,e)||(n.allPendingTasks++,e.fallbackAbortableTasks.forEach(ju,n),e.fallbackAbortableTasks.
clear(),t!==null&&--t.pendingTasks===0&&rn(n,t),n.allPendingTasks--),n.pendingRootTasks===0&&n.trackedPostpones===null&&
e.preamble!==null&&kt(n);else if(e.status===5&&(e=e.row,e!==null)){if(n.trackedPostpones!==null){t=n.trackedPostpones;var i=e.
next;if(i!==null&&(r=i.boundaries,r!==null))for(i.boundaries=null,i=0;i<r.length;i++){var l=r[i];ka(n,t,l),Ce(n,l,null,null)}}
n.allPendingTasks++,--e.pendingTasks===0&&rn(n,e),n.allPendingTasks--}}else r===null||!r.parentFlushed||r.status!==1&&r.
status!==3||(Ct(e,r),e.completedSegments.length===1&&e.parentFlushed&&n.partialBoundaries.push(e)),e=e.row,e!==null&&e.together&&
yi(n,e);n.allPendingTasks===0&&Rr(n)}function Oa(n){if(!(n.aborted||11<n.status)){var e=pe,t=Ze.H;Ze.H=Gl;var r=Ze.A;Ze.
A=Qu;var i=q;q=n;var l=fr;fr=n.resumableState;try{var a=n.pingedTasks,u;for(u=0;u<a.length;u++){var o=a[u],f=n,c=o.blockedSegment;
if(c===null){n:if(o.replay.pendingTasks!==0){var h=f.currentTask;f.currentTask=o,$n(o.context);var d=o.node;try{if(typeof o.
replay.slots=="number"?Mr(f,o,o.replay.slots,o.node,o.childIndex):bi(f,o),o.replay.pendingTasks===1&&0<o.replay.nodes.length)
throw Error(v(488));o.replay.pendingTasks--,o.abortSet.delete(o),Ce(f,o.blockedBoundary,o.row,null)}catch(W){Pt();var s=W===
on?yr():W;if(f.aborted){W===on&&(o.thenableState=re()),f.currentTask=h;var g=f;xr(o,g),o.abortSet.delete(o),me(o,g,g.fatalError)}else{
if(typeof s=="object"&&s!==null){if(typeof s.then=="function"){var b=o.ping;s.then(b.resolve,b.reject),o.thenableState=W===
on?re():null;break n}if(s.message==="Maximum call stack size exceeded"&&o.node!==d){o.thenableState=null,f.pingedTasks.push(
o);break n}}o.replay.pendingTasks--,o.abortSet.delete(o);var C=Pe(o.componentStack);g=f;var w=o.blockedBoundary,_=f.aborted?
f.fatalError:s,B=o.replay.nodes,I=o.replay.slots,T=Z(g,_,C);St(g,w,B,I,_,T),f.pendingRootTasks--,f.pendingRootTasks===0&&
Ii(f),f.allPendingTasks--,f.allPendingTasks===0&&Rr(f)}}finally{f.currentTask=h}}}else n:if(g=c,g.status===0){var x=f.currentTask;
f.currentTask=o,$n(o.context);var O=g.children.length,sn=g.chunks.length,p=o.node;try{bi(f,o),Tt(g.chunks,f.renderState,
g.lastPushedText,g.textEmbedded),o.abortSet.delete(o),g.status=1,Ce(f,o.blockedBoundary,o.row,g)}catch(W){Pt(),g.children.
length=O,g.chunks.length=sn;var L=W===on?yr():W;if(f.aborted)W===on&&(o.thenableState=re()),f.currentTask=x,g=f,xr(o,g),
o.abortSet.delete(o),me(o,g,g.fatalError);else{if(typeof L=="object"&&L!==null){if(typeof L.then=="function"){g.status=0,
o.thenableState=W===on?re():null;var H=o.ping;L.then(H.resolve,H.reject);break n}if(L.message==="Maximum call stack size\
 exceeded"&&o.node!==p){g.status=0,o.thenableState=null,f.pingedTasks.push(o);break n}}var X=Pe(o.componentStack);o.abortSet.
delete(o),g.status=4;var M=o.blockedBoundary,un=o.row;if(un!==null&&--un.pendingTasks===0&&rn(f,un),f.allPendingTasks--,
M===null)if(kr(L)){var z=Si(L);Z(f,z,X),Re(f,z)}else Z(f,L,X),Re(f,L);else{var Wn=Z(f,L,X);if(M.pendingTasks--,M.status!==
4){M.status=4,M.errorDigest=Wn,Fi(f,M);var dn=M.row;dn!==null&&(f.allPendingTasks++,--dn.pendingTasks===0&&rn(f,dn),f.allPendingTasks--),
M.parentFlushed&&f.clientRenderedBoundaries.push(M),f.pendingRootTasks===0&&f.trackedPostpones===null&&M.preamble!==null&&
kt(f)}f.allPendingTasks===0&&Rr(f)}}}finally{f.currentTask=x}}}a.splice(0,u),n.destination!==null&&Fr(n,n.destination)}catch(W){
Z(n,W,{}),Re(n,W)}finally{fr=l,Ze.H=t,Ze.A=r,t===Gl&&$n(e),q=i}}}function oi(n,e,t){e.preambleChildren.length&&t.push(e.
preambleChildren);for(var r=!1,i=0;i<e.children.length;i++)r=Ma(n,e.children[i],t)||r;return r}function Ma(n,e,t){var r=e.
boundary;if(r===null)return oi(n,e,t);var i=r.preamble;if(i===null)return!1;switch(r.status){case 1:if(Il(n.renderState,
i.content),n.byteSize+=r.byteSize,e=r.completedSegments[0],!e)throw Error(v(391));return oi(n,e,t);case 5:if(n.trackedPostpones!==
null)return!0;case 4:if(e.status===1)return Il(n.renderState,i.fallback),oi(n,e,t);default:return!0}}function kt(n){if(n.
completedRootSegment&&n.completedPreambleSegments===null){var e=[],t=n.byteSize,r=Ma(n,n.completedRootSegment,e),i=n.renderState.
preamble;r===!1||i.headChunks&&i.bodyChunks?n.completedPreambleSegments=e:n.byteSize=t}}function rr(n,e,t,r){switch(t.parentFlushed=
!0,t.status){case 0:t.id=n.nextSegmentId++;case 5:return r=t.id,t.lastPushedText=!1,t.textEmbedded=!1,n=n.renderState,e.
push('<template id="'),e.push(n.placeholderPrefix),n=r.toString(16),e.push(n),e.push('"></template>');case 1:t.status=2;
var i=!0,l=t.chunks,a=0;t=t.children;for(var u=0;u<t.length;u++){for(i=t[u];a<i.index;a++)e.push(l[a]);i=At(n,e,i,r)}for(;a<
l.length-1;a++)e.push(l[a]);return a<l.length&&(i=e.push(l[a])),i;case 3:return!0;default:throw Error(v(390))}}var _t=0;
function At(n,e,t,r){var i=t.boundary;if(i===null)return rr(n,e,t,r);if(t.boundary=null,i.parentFlushed=!0,i.status===4){
var l=i.row;return l!==null&&--l.pendingTasks===0&&rn(n,l),n.renderState.generateStaticMarkup||(i=i.errorDigest,e.push("\
<!--$!-->"),e.push("<template"),i!=null&&(e.push(' data-dgst="'),i=E(i),e.push(i),e.push('"')),e.push("></template>")),rr(
n,e,t,r),n=n.renderState.generateStaticMarkup?!0:e.push("<!--/$-->"),n}if(i.status!==1)return i.status===0&&(i.rootSegmentID=
n.nextSegmentId++),0<i.completedSegments.length&&n.partialBoundaries.push(i),Ll(e,n.renderState,i.rootSegmentID),r&&Ke(r,
i.fallbackState),rr(n,e,t,r),e.push("<!--/$-->");if(!cr&&qe(n,i)&&(_t+i.byteSize>n.progressiveChunkSize||i.defer))return i.
rootSegmentID=n.nextSegmentId++,n.completedBoundaries.push(i),Ll(e,n.renderState,i.rootSegmentID),rr(n,e,t,r),e.push("<!\
--/$-->");if(_t+=i.byteSize,r&&Ke(r,i.contentState),t=i.row,t!==null&&qe(n,i)&&--t.pendingTasks===0&&rn(n,t),n.renderState.
generateStaticMarkup||e.push("<!--$-->"),t=i.completedSegments,t.length!==1)throw Error(v(391));return At(n,e,t[0],r),n=
n.renderState.generateStaticMarkup?!0:e.push("<!--/$-->"),n}function ui(n,e,t,r){return hu(e,n.renderState,t.parentFormatContext,
t.id),At(n,e,t,r),su(e,t.parentFormatContext)}function jl(n,e,t){_t=t.byteSize;for(var r=t.completedSegments,i=0;i<r.length;i++)
Fa(n,e,t,r[i]);r.length=0,r=t.row,r!==null&&qe(n,t)&&--r.pendingTasks===0&&rn(n,r),Ea(e,t.contentState,n.renderState),r=
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
push(n.segmentPrefix),e.push(r),l?(e.push('",'),xu(e,t)):e.push('"'),t=e.push(")</script>"),Ta(e,n)&&t}function Fa(n,e,t,r){
if(r.status===2)return!0;var i=t.contentState,l=r.id;if(l===-1){if((r.id=t.rootSegmentID)===-1)throw Error(v(392));return ui(
n,e,r,i)}return l===t.rootSegmentID?ui(n,e,r,i):(ui(n,e,r,i),t=n.resumableState,n=n.renderState,e.push(n.startInlineScript),
e.push(">"),(t.instructions&1)===0?(t.instructions|=1,e.push('$RS=function(a,b){a=document.getElementById(a);b=document.\
getElementById(b);for(a.parentNode.removeChild(a);a.firstChild;)b.parentNode.insertBefore(a.firstChild,b);b.parentNode.r\
emoveChild(b)};$RS("')):e.push('$RS("'),e.push(n.segmentPrefix),l=l.toString(16),e.push(l),e.push('","'),e.push(n.placeholderPrefix),
e.push(l),e=e.push('")</script>'),e)}var cr=!1;function Fr(n,e){try{if(!(0<n.pendingRootTasks)){var t,r=n.completedRootSegment;
if(r!==null){if(r.status===5)return;var i=n.completedPreambleSegments;if(i===null)return;_t=n.byteSize;var l=n.resumableState,
a=n.renderState,u=a.preamble,o=u.htmlChunks,f=u.headChunks,c;if(o){for(c=0;c<o.length;c++)e.push(o[c]);if(f)for(c=0;c<f.
length;c++)e.push(f[c]);else{var h=U("head");e.push(h),e.push(">")}}else if(f)for(c=0;c<f.length;c++)e.push(f[c]);var d=a.
charsetChunks;for(c=0;c<d.length;c++)e.push(d[c]);d.length=0,a.preconnects.forEach(Cn,e),a.preconnects.clear();var s=a.viewportChunks;
for(c=0;c<s.length;c++)e.push(s[c]);s.length=0,a.fontPreloads.forEach(Cn,e),a.fontPreloads.clear(),a.highImagePreloads.forEach(
Cn,e),a.highImagePreloads.clear(),Je=a,a.styles.forEach(Eu,e),Je=null;var g=a.importMapChunks;for(c=0;c<g.length;c++)e.push(
g[c]);g.length=0,a.bootstrapScripts.forEach(Cn,e),a.scripts.forEach(Cn,e),a.scripts.clear(),a.bulkPreloads.forEach(Cn,e),
a.bulkPreloads.clear(),l.instructions|=32;var b=a.hoistableChunks;for(c=0;c<b.length;c++)e.push(b[c]);for(l=b.length=0;l<
i.length;l++){var C=i[l];for(a=0;a<C.length;a++)At(n,e,C[a],null)}var w=n.renderState.preamble,_=w.headChunks;if(w.htmlChunks||
_){var B=we("head");e.push(B)}var I=w.bodyChunks;if(I)for(i=0;i<I.length;i++)e.push(I[i]);At(n,e,r,null),n.completedRootSegment=
null;var T=n.renderState;if(n.allPendingTasks!==0||n.clientRenderedBoundaries.length!==0||n.completedBoundaries.length!==
0||n.trackedPostpones!==null&&(n.trackedPostpones.rootNodes.length!==0||n.trackedPostpones.rootSlots!==null)){var x=n.resumableState;
if((x.instructions&64)===0){if(x.instructions|=64,e.push(T.startInlineScript),(x.instructions&32)===0){x.instructions|=32;
var O="_"+x.idPrefix+"R_";e.push(' id="');var sn=E(O);e.push(sn),e.push('"')}e.push(">"),e.push("requestAnimationFrame(f\
unction(){$RT=performance.now()});"),e.push("</script>")}}Ta(e,T)}var p=n.renderState;r=0;var L=p.viewportChunks;for(r=0;r<
L.length;r++)e.push(L[r]);L.length=0,p.preconnects.forEach(Cn,e),p.preconnects.clear(),p.fontPreloads.forEach(Cn,e),p.fontPreloads.
clear(),p.highImagePreloads.forEach(Cn,e),p.highImagePreloads.clear(),p.styles.forEach(wu,e),p.scripts.forEach(Cn,e),p.scripts.
clear(),p.bulkPreloads.forEach(Cn,e),p.bulkPreloads.clear();var H=p.hoistableChunks;for(r=0;r<H.length;r++)e.push(H[r]);
H.length=0;var X=n.clientRenderedBoundaries;for(t=0;t<X.length;t++){var M=X[t];p=e;var un=n.resumableState,z=n.renderState,
Wn=M.rootSegmentID,dn=M.errorDigest;p.push(z.startInlineScript),p.push(">"),(un.instructions&4)===0?(un.instructions|=4,
p.push('$RX=function(b,c,d,e,f){var a=document.getElementById(b);a&&(b=a.previousSibling,b.data="$!",a=a.dataset,null!=c\
&&(a.dgst=c),d&&(a.msg=d),e&&(a.stck=e),f&&(a.cstck=f),b._reactRetry&&b._reactRetry())};;$RX("')):p.push('$RX("'),p.push(
z.boundaryPrefix);var W=Wn.toString(16);if(p.push(W),p.push('"'),dn!=null)if(p.push(","),dn==null)p.push("null");else{var le=gu(
dn);p.push(le)}var V=p.push(")</script>");if(!V){n.destination=null,t++,X.splice(0,t);return}}X.splice(0,t);var An=n.completedBoundaries;
for(t=0;t<An.length;t++)if(!jl(n,e,An[t])){n.destination=null,t++,An.splice(0,t);return}An.splice(0,t),cr=!0;var Q=n.partialBoundaries;
for(t=0;t<Q.length;t++){var Tn=Q[t];n:{X=n,M=e,_t=Tn.byteSize;var wn=Tn.completedSegments;for(V=0;V<wn.length;V++)if(!Fa(
X,M,Tn,wn[V])){V++,wn.splice(0,V);var Sn=!1;break n}wn.splice(0,V);var N=Tn.row;N!==null&&N.together&&Tn.pendingTasks===
1&&(N.pendingTasks===1?Mi(X,N,N.hoistables):N.pendingTasks--),Sn=Ea(M,Tn.contentState,X.renderState)}if(!Sn){n.destination=
null,t++,Q.splice(0,t);return}}Q.splice(0,t),cr=!1;var Ln=n.completedBoundaries;for(t=0;t<Ln.length;t++)if(!jl(n,e,Ln[t])){
n.destination=null,t++,Ln.splice(0,t);return}Ln.splice(0,t)}}finally{cr=!1,t=n.postponedState,t!==null&&(t.nextSegmentId=
n.nextSegmentId),n.allPendingTasks===0&&n.clientRenderedBoundaries.length===0&&n.completedBoundaries.length===0&&(n.flushScheduled=
!1,t=n.resumableState,t.hasBody&&(Q=we("body"),e.push(Q)),t.hasHtml&&(t=we("html"),e.push(t)),Li(n),n.status=13,e.push(null),
n.destination=null)}}function _e(n){if(n.flushScheduled===!1&&n.pingedTasks.length===0&&n.destination!==null){n.flushScheduled=
!0;var e=n.destination;e?Fr(n,e):n.flushScheduled=!1}}function $u(n,e){if(n.status===12)n.status=13,n=n.fatalError,kr(n)&&
(n=Si(n)),e.destroy(n);else if(n.status!==13&&n.destination===null){n.destination=e;try{Fr(n,e)}catch(t){Z(n,t,{}),Re(n,
t)}}}function nf(n,e){try{if(0<e.size){var t=n.fatalError;e.forEach(function(r){return me(r,n,t)}),e.clear()}n.destination!==
null&&Fr(n,n.destination)}catch(r){Z(n,r,{}),Re(n,r)}}function Li(n){n=n.renderLifetimeController,n!==null&&n.abort("The\
 render ended.")}function ef(n,e){if(!(n.aborted||n.status!==11&&n.status!==10)){Li(n);var t=typeof e=="object"&&e!==null&&
e.$$typeof===Ar;n.aborted=!0,e=t?ma(e):e===void 0?Error(v(432)):typeof e=="object"&&e!==null&&typeof e.then=="function"?
Error(v(530)):e,n.fatalError=e,e=n.abortableTasks,e.forEach(function(r){return xr(r,n)}),nf(n,e)}}function Pr(n,e,t){if(e===
null)t.rootNodes.push(n);else{var r=t.workingMap,i=r.get(e);i===void 0&&(i=[e[1],e[2],[],null],r.set(e,i),Pr(i,e[0],t)),
i[2].push(n)}}function tf(){}function Na(n,e,t,r){var i=!1,l=null,a="",u=!1;if(e=ou(e?e.identifierPrefix:void 0),n=qu(n,
e,Fu(e,t),K(0,null,0,null),1/0,tf,void 0,void 0,function(){u=!0},void 0,void 0,void 0),n.flushScheduled=n.destination!==
null,Oa(n),n.status===10&&(n.status=11),n.trackedPostpones===null&&Ni(n,n.pendingRootTasks===0),ef(n,r),$u(n,{push:function(o){
return o!==null&&(a+=o),!0},destroy:function(o){i=!0,l=o}}),i&&l!==r)throw l;if(!u)throw Error(v(426));return a}Nr.renderToStaticMarkup=
function(n,e){return Na(n,e,!0,'The server used "renderToStaticMarkup" which does not support Suspense. If you intended \
to have the server wait for the suspended component please switch to "renderToReadableStream" which supports Suspense on\
 the server')};Nr.renderToString=function(n,e){return Na(n,e,!1,'The server used "renderToString" which does not support\
 Suspense. If you intended for this Suspense boundary to render the fallback content on the server consider throwing an \
Error somewhere within the Suspense boundary. If you intended to have the server wait for the suspended component please\
 switch to "renderToReadableStream" which supports Suspense on the server')};Nr.version="19.3.1"});var Ba=Te(Ir=>{"use strict";var lf=Symbol.for("react.transitional.element"),af=Symbol.for("react.fragment");function Da(n,e,t){
var r=null;if(t!==void 0&&(r=""+t),e.key!==void 0&&(r=""+e.key),"key"in e){t={};for(var i in e)i!=="key"&&(t[i]=e[i])}else
t=e;return e=t.ref,{$$typeof:lf,type:n,key:r,ref:e!==void 0?e:null,props:t}}Ir.Fragment=af;Ir.jsx=Da;Ir.jsxs=Da});var Y=Te((Cf,za)=>{"use strict";za.exports=Ba()});var vo=R(gn(),1),yo=R(Ia(),1);var rf=Symbol.for("react-email.element"),hn=(n,e={})=>{n[rf]=e};var La=["margin","marginTop","marginBottom","marginRight","marginLeft","marginInline","marginBlock","marginBlockStart","\
marginBlockEnd","marginInlineStart","marginInlineEnd"],Ha=["padding","paddingTop","paddingBottom","paddingRight","paddin\
gLeft","paddingInline","paddingBlock","paddingBlockStart","paddingBlockEnd","paddingInlineStart","paddingInlineEnd"];var Ya=R(gn(),1),je=R(Y(),1),Ot=Ya.forwardRef(({children:n,style:e,...t},r)=>{let i={background:e?.background,backgroundColor:e?.
backgroundColor};if(e)for(let l of[...La,...Ha])i[l]=e[l]!==void 0?0:void 0;return(0,je.jsx)("body",{...t,dir:t.dir??"lt\
r",lang:t.lang??"en",style:i,ref:r,children:(0,je.jsx)("table",{border:0,width:"100%",cellPadding:"0",cellSpacing:"0",role:"\
presentation",align:"center",children:(0,je.jsx)("tbody",{children:(0,je.jsx)("tr",{children:(0,je.jsx)("td",{dir:t.dir??
"ltr",lang:t.lang??"en",style:e,children:n})})})})})});Ot.displayName="Body";hn(Ot);function Lr(n){let e=0;if(n===void 0||n==="")return;if(typeof n=="number")return n;let t=/^([\d.]+)(px|em|rem|%)$/.exec(
n);if(t&&t.length===3){let r=Number.parseFloat(t[1]);switch(t[2]){case"px":return r;case"em":case"rem":return e=r*16,e;case"\
%":return e=r/100*600,e;default:return r}}return 0}function of(n){if(typeof n=="number")return{paddingTop:n,paddingBottom:n,
paddingLeft:n,paddingRight:n};if(typeof n=="string"){let e=n.toString().trim().split(/\s+/);if(e.length===1)return{paddingTop:e[0],
paddingBottom:e[0],paddingLeft:e[0],paddingRight:e[0]};if(e.length===2)return{paddingTop:e[0],paddingRight:e[1],paddingBottom:e[0],
paddingLeft:e[1]};if(e.length===3)return{paddingTop:e[0],paddingRight:e[1],paddingBottom:e[2],paddingLeft:e[1]};if(e.length===
4)return{paddingTop:e[0],paddingRight:e[1],paddingBottom:e[2],paddingLeft:e[3]}}return{paddingTop:void 0,paddingBottom:void 0,
paddingLeft:void 0,paddingRight:void 0}}function Wa(n){let e,t,r,i;for(let[l,a]of Object.entries(n))l==="padding"?{paddingTop:e,
paddingBottom:r,paddingLeft:i,paddingRight:t}=of(a):l==="paddingTop"?e=a:l==="paddingRight"?t=a:l==="paddingBottom"?r=a:
l==="paddingLeft"&&(i=a);return{paddingTop:Lr(e),paddingRight:Lr(t),paddingBottom:Lr(r),paddingLeft:Lr(i)}}var Hi=n=>typeof n=="number"&&!Number.isNaN(Number(n))?n*3/4:void 0;var Ga=R(gn(),1),$e=R(Y(),1),uf=5;function Ua(n){if(n===0)return[0,0];let e=0,t=()=>e>0?n/e/2:Number.POSITIVE_INFINITY;for(;t()>
uf;)e++;return[t(),e]}var Mt=Ga.forwardRef(({children:n,style:e,target:t="_blank",...r},i)=>{let{paddingTop:l,paddingRight:a,
paddingBottom:u,paddingLeft:o}=Wa(e??{}),f=Hi((l??0)+(u??0)),[c,h]=Ua(o??0),[d,s]=Ua(a??0);return(0,$e.jsxs)("a",{...r,ref:i,
style:{lineHeight:"100%",textDecoration:"none",display:"inline-block",maxWidth:"100%",msoPaddingAlt:"0px",...e,paddingTop:l,
paddingRight:a,paddingBottom:u,paddingLeft:o},target:t,children:[(0,$e.jsx)("span",{dangerouslySetInnerHTML:{__html:`<!-\
-[if mso]><i style="mso-font-width:${c*100}%;mso-text-raise:${f}px" hidden>${"&#8202;".repeat(h)}</i><![endif]-->`}}),(0,$e.jsx)(
"span",{style:{maxWidth:"100%",display:"inline-block",lineHeight:"120%",msoPaddingAlt:"0px",msoTextRaise:Hi(u)},children:n}),
(0,$e.jsx)("span",{dangerouslySetInnerHTML:{__html:`<!--[if mso]><i style="mso-font-width:${d*100}%" hidden>${"&#8202;".
repeat(s)}&#8203;</i><![endif]-->`}})]})});Mt.displayName="Button";hn(Mt);var Xa=R(gn(),1),Ft=R(Y(),1),Nt=Xa.forwardRef(({children:n,style:e={},tdClassName:t,...r},i)=>{let l={},a={},u=e;for(let o in u){
if(!Object.hasOwn(u,o))continue;let f=u[o];o.startsWith("padding")?l[o]=f:a[o]=f}return(0,Ft.jsx)("table",{align:"center",
width:"100%",...r,border:0,cellPadding:"0",cellSpacing:"0",ref:i,role:"presentation",style:{maxWidth:"37.5em",...a},children:(0,Ft.jsx)(
"tbody",{children:(0,Ft.jsx)("tr",{style:{width:"100%"},children:(0,Ft.jsx)("td",{className:t,style:l,children:n})})})})});
Nt.displayName="Container";hn(Nt,{resolveTailwind(n,{style:e,className:t,classProperties:r}){let i=[],l=n.tdClassName?[n.
tdClassName]:[];for(let a of t?.split(" ")??[]){let u=r[a];u&&u.length>0&&u.every(o=>o.startsWith("padding"))?l.push(a):
i.push(a)}return{...n,style:e,className:i.length>0?i.join(" "):void 0,tdClassName:l.length>0?l.join(" "):void 0}}});var Za=R(gn(),1),It=R(Y(),1),Hr=Za.forwardRef(({children:n,...e},t)=>(0,It.jsxs)("head",{...e,ref:t,children:[(0,It.jsx)(
"meta",{content:"text/html; charset=UTF-8",httpEquiv:"Content-Type"}),(0,It.jsx)("meta",{name:"x-apple-disable-message-r\
eformatting"}),n]}));Hr.displayName="Head";var Va=n=>{let e=[Ae(n.m,["margin"]),Ae(n.mx,["marginLeft","marginRight"]),Ae(n.my,["marginTop","marginBottom"]),Ae(n.mt,
["marginTop"]),Ae(n.mr,["marginRight"]),Ae(n.mb,["marginBottom"]),Ae(n.ml,["marginLeft"])],t={};for(let r of e)Object.keys(
r).length>0&&Object.assign(t,r);return t},Ae=(n,e)=>{let t={};if(n===void 0||Number.isNaN(Number.parseFloat(String(n))))
return t;for(let r of e)t[r]=`${n}px`;return t};var Qa=R(gn(),1),Ja=R(Y(),1),Lt=Qa.forwardRef(({as:n="h1",children:e,style:t,m:r,mx:i,my:l,mt:a,mr:u,mb:o,ml:f,...c},h)=>(0,Ja.jsx)(
n,{...c,ref:h,style:{...Va({m:r,mx:i,my:l,mt:a,mr:u,mb:o,ml:f}),...t},children:e}));Lt.displayName="Heading";hn(Lt);var Ka=R(gn(),1),qa=R(Y(),1),Dr=Ka.forwardRef(({children:n,lang:e="en",dir:t="ltr",...r},i)=>(0,qa.jsx)("html",{...r,dir:t,
lang:e,ref:i,children:n}));Dr.displayName="Html";var ja=R(gn(),1),ie=R(Y(),1),Di=200,Ht=ja.forwardRef(({children:n="",useTitleTag:e=!0,...t},r)=>{let i=(Array.isArray(n)?
n.join(""):n).substring(0,Di);return(0,ie.jsxs)(ie.Fragment,{children:[e?(0,ie.jsx)("title",{children:i}):null,(0,ie.jsxs)(
"div",{style:{display:"none",overflow:"hidden",lineHeight:"1px",opacity:0,maxHeight:0,maxWidth:0},"data-skip-in-text":!0,
...t,ref:r,children:[i,$a(i)]})]})});Ht.displayName="Preview";hn(Ht);var ff="\xA0\u200C\u200B\u200D\uFEFF",$a=n=>n.length>=
Di?null:(0,ie.jsx)("div",{children:ff.repeat(Di-n.length)});var no=R(gn(),1),Dt=R(Y(),1),Bt=no.forwardRef(({children:n,style:e={},tdClassName:t,...r},i)=>{let l={},a={},u=e;for(let o in u){
if(!Object.hasOwn(u,o))continue;let f=u[o];o.startsWith("padding")?l[o]=f:a[o]=f}return(0,Dt.jsx)("table",{align:"center",
width:"100%",border:0,cellPadding:"0",cellSpacing:"0",role:"presentation",...r,ref:i,style:a,children:(0,Dt.jsx)("tbody",
{children:(0,Dt.jsx)("tr",{children:(0,Dt.jsx)("td",{className:t,style:l,children:n})})})})});Bt.displayName="Section";hn(
Bt,{resolveTailwind(n,{style:e,className:t,classProperties:r}){let i=[],l=n.tdClassName?[n.tdClassName]:[];for(let a of t?.
split(" ")??[]){let u=r[a];u&&u.length>0&&u.every(o=>o.startsWith("padding"))?l.push(a):i.push(a)}return{...n,style:e,className:i.
length>0?i.join(" "):void 0,tdClassName:l.length>0?l.join(" "):void 0}}});function cf(n){if(typeof n=="number")return{marginTop:n,marginBottom:n,marginLeft:n,marginRight:n};if(typeof n=="string"){
let e=n.toString().trim().split(/\s+/);if(e.length===1)return{marginTop:e[0],marginBottom:e[0],marginLeft:e[0],marginRight:e[0]};
if(e.length===2)return{marginTop:e[0],marginRight:e[1],marginBottom:e[0],marginLeft:e[1]};if(e.length===3)return{marginTop:e[0],
marginRight:e[1],marginBottom:e[2],marginLeft:e[1]};if(e.length===4)return{marginTop:e[0],marginRight:e[1],marginBottom:e[2],
marginLeft:e[3]}}return{marginTop:void 0,marginBottom:void 0,marginLeft:void 0,marginRight:void 0}}function eo(n){let e={
marginTop:void 0,marginRight:void 0,marginBottom:void 0,marginLeft:void 0};for(let[t,r]of Object.entries(n))t==="margin"?
e=cf(r):t==="marginTop"?e.marginTop=r:t==="marginRight"?e.marginRight=r:t==="marginBottom"?e.marginBottom=r:t==="marginL\
eft"&&(e.marginLeft=r);return e}var to=R(gn(),1),ro=R(Y(),1),Se=to.forwardRef(({style:n,...e},t)=>{let r={};n?.marginTop===void 0&&(r.marginTop="16px"),
n?.marginBottom===void 0&&(r.marginBottom="16px");let i=eo({...r,...n});return(0,ro.jsx)("p",{...e,ref:t,style:{fontSize:"\
14px",lineHeight:"24px",...n,...i}})});Se.displayName="Text";hn(Se);var Nn={page:"#f4f4f5",card:"#ffffff",border:"#e4e4e7",text:"#18181b",muted:"#52525b",action:"#1d4ed8",onAction:"#ffffff"},
nt={page:"#18181b",card:"#27272a",border:"#3f3f46",text:"#f4f4f5",muted:"#c4c4cc"},ke={fontFamily:"-apple-system, BlinkM\
acSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",fontSize:"16px",lineHeight:"24px",color:Nn.text},hf={wordBreak:"\
break-word",overflowWrap:"anywhere"},_n={page:{...ke,...hf,margin:"0",padding:"24px 8px",backgroundColor:Nn.page},card:{
maxWidth:"560px",padding:"28px 20px",backgroundColor:Nn.card,border:`1px solid ${Nn.border}`,borderRadius:"8px"},heading:{
...ke,margin:"0 0 20px",fontSize:"22px",lineHeight:"28px",fontWeight:600},text:{...ke,margin:"0 0 16px"},details:{width:"\
100%",margin:"0 0 24px",borderCollapse:"collapse",tableLayout:"fixed"},label:{...ke,width:"36%",padding:"10px 12px 10px \
0",borderTop:`1px solid ${Nn.border}`,color:Nn.muted,fontSize:"14px",fontWeight:400,textAlign:"left",verticalAlign:"top"},
value:{...ke,fontSize:"15px",padding:"10px 0",borderTop:`1px solid ${Nn.border}`,verticalAlign:"top"},action:{...ke,padding:"\
12px 20px",borderRadius:"6px",backgroundColor:Nn.action,color:Nn.onAction,fontWeight:600},note:{...ke,margin:"24px 0 0",
color:Nn.muted,fontSize:"14px",lineHeight:"20px"}},j={page:"dark-page",card:"dark-card",text:"dark-text",muted:"dark-mut\
ed",line:"dark-line"},io=`
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .${j.page}, .${j.page} > table > tbody > tr > td { background-color: ${nt.page} !important; }
  .${j.card} { background-color: ${nt.card} !important; border-color: ${nt.border} !important; }
  .${j.text} { color: ${nt.text} !important; }
  .${j.muted} { color: ${nt.muted} !important; }
  .${j.line} { border-color: ${nt.border} !important; }
}`;var P=R(Y(),1);function In({subject:n,preview:e,heading:t,displayName:r,body:i,details:l,action:a,note:u}){return(0,P.jsxs)(
Dr,{lang:"en",children:[(0,P.jsxs)(Hr,{children:[(0,P.jsx)("meta",{name:"viewport",content:"width=device-width, initial-\
scale=1"}),(0,P.jsx)("meta",{name:"color-scheme",content:"light dark"}),(0,P.jsx)("meta",{name:"supported-color-schemes",
content:"light dark"}),(0,P.jsx)("title",{children:n}),(0,P.jsx)("style",{children:io})]}),(0,P.jsxs)(Ot,{className:j.page,
style:_n.page,children:[(0,P.jsx)(Ht,{useTitleTag:!1,children:e}),(0,P.jsxs)(Nt,{className:j.card,style:_n.card,children:[
(0,P.jsx)(Lt,{className:j.text,style:_n.heading,children:t}),(0,P.jsx)(Se,{className:j.text,style:_n.text,children:(0,P.jsx)(
sf,{name:r.trim()})}),(0,P.jsx)(Se,{className:j.text,style:_n.text,children:i}),(0,P.jsx)(df,{details:l}),(0,P.jsx)(Bt,{
children:(0,P.jsx)(Mt,{href:gf(a.url),style:_n.action,children:a.label})}),(0,P.jsx)(Se,{className:j.muted,style:_n.note,
children:u})]})]})]})}function sf({name:n}){return n===""?"Hello,":(0,P.jsxs)(P.Fragment,{children:["Hello ",(0,P.jsx)("\
bdi",{children:n}),","]})}function df({details:n}){return(0,P.jsx)("table",{width:"100%",cellPadding:"0",cellSpacing:"0",
style:_n.details,children:(0,P.jsx)("tbody",{children:n.map(({label:e,value:t})=>(0,P.jsxs)("tr",{children:[(0,P.jsx)("t\
h",{scope:"row",className:`${j.muted} ${j.line}`,style:_n.label,children:e}),(0,P.jsx)("td",{className:`${j.text} ${j.line}`,
style:_n.value,children:(0,P.jsx)("bdi",{children:t})})]},e))})})}function gf(n){if(!/^https?:$/.test(new URL(n).protocol))
throw new Error("A mail links to http(s) addresses only");return n}var ao=R(Y(),1);function Bi({displayName:n,planName:e,amount:t,reason:r,retryUrl:i}){return{subject:`Your payment for th\
e ${e} plan failed`,preview:`${t} could not be charged. You can try again.`,heading:"Payment failed",displayName:n,body:"\
Your payment did not go through. This attempt has not changed your subscription, and you can try again.",details:[{label:"\
Plan",value:e},{label:"Amount",value:t},...r?.trim()?[{label:"Reason",value:r}]:[]],action:{label:"Try again",url:i},note:"\
If you have paid since with another attempt, there is nothing left to do."}}function lo(n){return(0,ao.jsx)(In,{...Bi(n)})}
lo.PreviewProps={displayName:"Asha Rao",planName:"Pro",amount:"\u20B9999.00",reason:"Your payment was declined by the ba\
nk. Try another payment method.",retryUrl:"https://app.example.com/pricing"};var uo=R(Y(),1);function zi({displayName:n,planName:e,amount:t,transactionId:r,validUntil:i,dashboardUrl:l}){return{subject:`\
Payment received: your ${e} plan is active`,preview:`${t} paid. Your plan is valid until ${i}.`,heading:"Payment receive\
d",displayName:n,body:"Thank you. We have received your payment, and your plan is active.",details:[{label:"Plan",value:e},
{label:"Amount paid",value:t},{label:"Valid until",value:i},{label:"Transaction ID",value:r}],action:{label:"Open your d\
ashboard",url:l},note:"Keep this e-mail for your records. If you have a question about this payment, quote the transacti\
on ID."}}function oo(n){return(0,uo.jsx)(In,{...zi(n)})}oo.PreviewProps={displayName:"Asha Rao",planName:"Pro",amount:"\u20B9\
999.00",transactionId:"pay_29QQoUBi66xm2f",validUntil:"20 November 2027",dashboardUrl:"https://app.example.com/dashboard"};function fo({heading:n,displayName:e,body:t,details:r,action:i,note:l}){let a=e.trim();return`${[n,a===""?"Hello,":`Hell\
o ${a},`,t,r.map(({label:o,value:f})=>`${o}: ${f}`).join(`
`),`${i.label}: ${i.url}`,l].join(`

`)}
`}var ho=R(Y(),1);function Yi({displayName:n,planName:e,endsOn:t,pricingUrl:r}){return{subject:`Your ${e} plan has ended`,
preview:`Your access ended on ${t}.`,heading:"Your access has ended",displayName:n,body:`Your access to the ${e} plan en\
ded on ${t}. You can come back at any time.`,details:[{label:"Plan",value:e},{label:"Ended on",value:t}],action:{label:"\
See the plans",url:r},note:"If you have bought a plan since, there is nothing left to do."}}function co(n){return(0,ho.jsx)(
In,{...Yi(n)})}co.PreviewProps={displayName:"Asha Rao",planName:"Pro",endsOn:"20 November 2027",pricingUrl:"https://app.\
example.com/pricing"};var go=R(Y(),1);function Wi({displayName:n,planName:e,endsOn:t,pricingUrl:r,earlyRenewal:i}){let{preview:l,advice:a,action:u}=vf[i];
return{subject:`Your ${e} plan ends on ${t}`,preview:l,heading:"Your access ends soon",displayName:n,body:`Your plan is \
valid until ${t}. After that your access ends. ${a}`,details:[{label:"Plan",value:e},{label:"Valid until",value:t}],action:{
label:u,url:r},note:"If you have bought a plan since, or do not want to go on, there is nothing left to do."}}var vf={replace:{
preview:"You can buy it again on that day or later.",advice:"You can buy the plan again on that day or later. A purchase\
 before then starts a new period at once, and the days that are left are not added to it.",action:"See the plans"},extend:{
preview:"If you renew it before then, you lose no day.",advice:"To keep your access, renew your plan before then: the ne\
w period is added to this one, and you lose no day.",action:"Renew your plan"}};function so(n){return(0,go.jsx)(In,{...Wi(
n)})}so.PreviewProps={displayName:"Asha Rao",planName:"Pro",endsOn:"20 November 2027",pricingUrl:"https://app.example.co\
m/pricing",earlyRenewal:"replace"};var Ac={paymentSuccess:n=>Br(zi(n)),paymentFailed:n=>Br(Bi(n)),subscriptionEnding:n=>Br(Wi(n)),subscriptionEnded:n=>Br(Yi(
n))},yf='<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transiti\
onal.dtd">';function Br(n){return{subject:n.subject.replace(/[\s\p{Cc}]+/gu," "),html:yf+(0,yo.renderToStaticMarkup)((0,vo.createElement)(
In,n)),text:fo(n)}}export{Ac as mails};
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
