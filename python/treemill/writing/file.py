"""A ROOT file that is written once, from its beginning to its end: header, keys, the list of keys.
Does not know what the keys hold.
"""

from __future__ import annotations

import base64
import struct
import time
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from uproot.compression import Compression

__all__ = ["Buffer", "Codec", "RootFile", "key_length", "string"]

# Objects in the form in which ROOT streams them into a buffer: versions with byte counts, classes
# that are named once, references to earlier objects. Knows no file and no class.

_HAS_COUNT = 0x40000000
_NEW_CLASS = 0xFFFFFFFF
_CLASS = 0x80000000
_FIRST = 2
"""ROOT adds this to the positions in references, because 0 and 1 have special meanings."""


def string(text: str) -> bytes:
    """A TString: its length in one byte or in five, then its bytes."""
    data = text.encode("utf-8", "surrogateescape")
    if len(data) < 255:
        return bytes((len(data),)) + data
    return b"\xff" + struct.pack(">I", len(data)) + data


class Buffer:
    """A buffer that grows. `origin`: the number of bytes before it from which references count."""

    def __init__(self, origin: int) -> None:
        self.data = bytearray()
        self._origin = origin
        self._classes: dict[str, int] = {}

    def pack(self, form: str, *values: float) -> None:
        """Append numbers, packed by struct, big-endian."""
        self.data += struct.pack(">" + form, *values)

    @contextmanager
    def versioned(self, version: int) -> Iterator[None]:
        """Append a class's byte count and version before its members."""
        at = len(self.data)
        self.pack("IH", 0, version)
        yield
        struct.pack_into(">I", self.data, at, (len(self.data) - at - 4) | _HAS_COUNT)

    @contextmanager
    def pointed(self, name: str) -> Iterator[int]:
        """Append a pointer to an object of this class before the object. Gives the reference to
        it."""
        at = len(self.data)
        self.pack("I", 0)
        place = len(self.data) + self._origin + _FIRST
        known = self._classes.get(name)
        if known is None:
            self._classes[name] = place
            self.pack("I", _NEW_CLASS)
            self.data += name.encode() + b"\0"
        else:
            self.pack("I", known | _CLASS)
        yield at + self._origin + _FIRST
        struct.pack_into(">I", self.data, at, (len(self.data) - at - 4) | _HAS_COUNT)

    def named(self, name: str, title: str, bits: int = 0) -> None:
        """Append a TNamed with these bits of its TObject."""
        with self.versioned(1):
            self.data += b"\0\1" + bytes(4) + struct.pack(">I", bits)
            self.data += string(name) + string(title)

    @contextmanager
    def array(self, length: int) -> Iterator[None]:
        """Append a TObjArray of this many pointers before the pointers."""
        with self.versioned(3):
            self.data += b"\0\1" + bytes(4) + b"\0\0\0\0" + b"\0"  # TObject, no name
            self.pack("ii", length, 0)
            yield


# The compression of bytes in ROOT files. `query/rows.py` checks names and levels.

_CLASSES = {"zlib": "ZLIB", "lzma": "LZMA", "lz4": "LZ4", "zstd": "ZSTD"}


@dataclass(frozen=True)
class Codec:
    """A codec by name, with its level; without a name: no compression."""

    name: str | None = "zstd"
    level: int = 5

    @property
    def uproots(self) -> Compression | None:
        """uproot's object for this codec; None for no compression."""
        import uproot

        return None if self.name is None else getattr(uproot, _CLASSES[self.name])(self.level)

    @property
    def code(self) -> int:
        """ROOT's number for this codec and level."""
        compression = self.uproots
        return 0 if compression is None else int(compression.code)

    def packed(self, data: bytes | bytearray) -> bytes:
        """Compress the data into ROOT's frames; data that do not become shorter stay as they
        are."""
        from uproot.compression import compress

        return bytes(compress(bytes(data), self.uproots))


# The layout of a tree's classes in a file (TStreamerInfo), which every file has so that readers
# of other versions of ROOT understand it. The bytes are those that ROOT 6.40 writes for a tree
# with every kind of leaf; tools/streamers.py generates this module. Data only.


def streamers() -> bytes:
    """The list of a file's TStreamerInfo, as it lies after a key of 64 bytes."""
    return zlib.decompress(base64.b85decode(_PACKED))


_PACKED = (
    b"c-rM$Yiu0XbskcrUZh^OB+IrUPd2tm%9brVmSxkSBR-^*HYKX!N^&IYF}rhzJL2rjYG#%cEjyysI*yh2QOR)=CpO#^ZB"
    b"R5d(i&~j1TfOHO@g+73-niiByEr%L4lw_fujAB#5w2OGrM<oXSFjHEer61*qxo3o$tHnoO{l>=ibX*+M`cs-CBpHyl&p"
    b"5UFW?Eul!W#3!^Ojao6%RIQwaB<t|OT9&VREfcNfv-WNji&Hp?HC)UGF_t8%$3#W#C-<Zdr<+LSngpcAIJn8uu%7_sNJ"
    b"Ugc?f%mf31@8~nu;8^czYp#+x8_SiFBpLx=$7Z}hVJ57-7B0D#Zd3ZZ+GgU9XetFel)5zy#C``k9<P?-Ze5jwHq4)aMp"
    b"sR{T+NBCklC@aGOeDd44zyCu~=&!8hFqL*Fh`LlI~Rua}qY9#2B*gs09hQjw58O-NgtkoMS)vmW1c17y?&?%jXida)JU"
    b"DTXT$++zecpu(+0xV?ryBm8ypqYc`?M?U|HBs6^f*+#wE#r%AQlzWos93cXIvG!WKUBDB;x_#Ah0pLAL7xD~TU5j^Umw"
    b"7Fp@Z9P9?>iB~b6;A}I=>8`pChdEgf*#Rt+4W5I5H0{djJj$M|W$G1w5<Uu5N(P3%=nNOYprQz|w?X^vV@q1cB|jSvkG"
    b"PoSr34PZOtoaZX3<3US(*j+0@9aQO--1x#s%C<&r;uS%)MnlfgENu+M9YsILBUVs-Qv8=FX7`7q}lVEqMu&b;+PBkbo@"
    b"a8!1HcMW6Z`iYp?GkpW8GD&^SlH90Fo#}EpQB^FKY(NMbAy9ZB9wOwFz#ismzrL+;D{E;gDUcBD{qsl1+C5+&KCLxN|#"
    b"?z`(^M0b|8wLYhuHfV5hqr_!9Urc1A`H2wA$-PsX~wHB~g+J+^SnzPhmes#~-BiVs#6+U_*cz?(C`dkjBK@CLzuJTCHs"
    b"71IdC7WtuDzBpYKZgHNxJ358=3D2u!fP9r9FB0Sz2=cfJxzQREmQi&=ditbg1tOdf?%=p<hc*Zsj;F&CO2Ja@&_e@si6"
    b"RJP0Gfewg{ox<KZ`zIV|HI8b}te;BW?-%M#0EI@dpfdTI{atgiq@}o+pQ3n!wltMjny!ASRi@g3yE=MDH7h9z&g}4~;P"
    b";!M3id$J%S0VQ;+y4()Qathg)o+Q_d6AstT@ZNFG`3||pfrhdD?l+F+(zuAUYMU==^Zf#8p1O?Vy1do}O!v*GWo;W;79"
    b"L7}+Ymmbs+YhUTGi5&^?u=N3<j(^*Mc!PBK%Wtnkh--fd;WY@Hg7VUKP5JA5Swy5o}lv4fgc)XhpmU?)JnqDYZq&Rne*"
    b"*1ge%bJw$-opNAX3N1007yd}g&M%&d&xV#a??jQ@lf`*A;1GuI=-HCNwAny$BIEiW%3?awmp&k*f1M0<B!(7S`sE`#g3"
    b"YhRMN3BIbA>>%`}eWR>9cG(Uy8{pf`S=D}z0)$2;Q17jKReo!&m^X3FyN|{l%rSk!2tuMfPhnOss($7!c*X<mc&><eZp"
    b"BeRg9npi1mN|Z1+C|o@cCE7^%8MCp>pkwxMKg=-NbWWl8+Hau~cI$2L#jhEZD?ivwtfl|4ABd47)hO(Y{0tx=0N=6nB;"
    b"5lY4{_R>2sD#wT@)kI^usqbAC(m~-a0MaC>c3uJh%Sxfh@9S_SPSL@fh1Cx{a!NGhT6Zp(0(AFsCAm^janfMB8ghAI%f"
    b"XSk`qZ4p-NDkdDBh1>^51r+Lw)%GXe1gD20^1dj{u2TmO>oDU?c?yRA}yK(WV@z4Yn$LsSq!>E_hx4C^#l<pT}K@!{BC"
    b"?qGVIt8!h(k)K^XEoDNUS-GVcIYhC@)98j#0Q6}PKxo|s2~t?0uSv{fFZ<DJwwkkht!7a4a=apsWWR7G(8l;?*4Y~v|?"
    b"md>%EY`PrYvOI}qOpXi*ut0#1HxERYO2Ccujxq=&W@fZ;^iK=gngKLQLJOMH;FT8kHp0rWilXF(#41_z+n@?}ejtr(SL"
    b"Zn<(@#;xb4<b`5;l=|Ag=d4;9Vfi&Q<CZ95w-qF6qJ%W$;2lHub*9&}weAKi>Hc2D0Gtpn`4G(5nGDK(b(P5JBJ-Z3DG"
    b"IGO`1msxg@;{XSEAk|@nKchQyX4-N>cUmoc}wNe2qz!3pzCJ&eLlpJSKOi#Y{+^vXsaRJ;Bd|sd`(|Wba#Fd|@cGCfOn"
    b"Q-?j@cDRSacKz`m!`Soae_(`2dQ1R$6QZddV+NnN_F&|ELpfX(#ZCuo4>cMRoN(v`4{*E!D!T*Iw>F^^sOp%w}tIl$0a"
    b"M<1Vged8@!RG4Y%)25&(-S3)=P1Q9TE74iJtW@4I=dgY_~H6~(e(pjvjYTDFl|HmGWeBp3+?^|DmzMf**oUOHJXAtzK0"
    b"k+z8R-3?v9wP6T2KDLQ@SLu6PPOI9DW_n=&Yfro69Yg6^30L*3{c)v?KvuS)V28SegJC@gA&5eb>G_y7uE_+5lACAAoh"
    b"Hd`R3%rdBSu9+;M6hBCOzEBq)&1aRDI{-T@{}>>N%djk_wbXJY?Z_UXFZsP=XGf9%Cw;cZ9?U@bLY>IBc6?Nn*_5VR{U"
    b"d{w*y18(K&o%c@b$6lwgD4fp4*3|BDgV|4rB=EP~Gh0i4Euc;Spv#TH_5UD@`%BTmF(K9Tgr$|PdR2eA+;i%RNezaqXZ"
    b"S>JrHfl0?)%V>VPhjLzNlv|7YtAmD)Ho!j2q(L(78vIU;pCfrc~67`LzbQh29EI|?OaB;<#+~V<9{tRq5TDE;ucjC%~`"
    b"#6(;wZvmSfM8Y_?&eLONI>N4Wu0)PTLzfDQ2!e0*|5jz_hgc0-I+H78dr8JIoy{H<i(^Os5SK}L9O?H^wF2L2dsyCC`Y"
    b"oNwg2k@=qExcvc616}3G8J{(DioTfycYi!0j&eQYmeG2>A4Ws7!l6;3;Y@olcr2AO)FG3~|2yM`JwgLfH0&)=X>^LKSh"
    b"~EXk5Dx$1MDS+{XD@wL$HVAWwZ~XDqCS%C8AXzTKC1>$zhPNkj=h{DkcoZMMfUIXTWSbPt_|MD$5=_MytLL2@n@*7`5L"
    b")CRq2iz!E9<kOKiZ{v60!WO|N=gHIEuv(1%OwW4vmTG6Q2F^bR~a7@B=jQ3u;uvkFHiOgfo{cxEjjbH=Y0@#Mq_zbG3G"
    b"E$k4rU~i6rkeK%7iOBv%h8p<(=Ef#P;8%O;1dKaUCkX0lW-NshK>Mz{kmxQg=b{<&(OvaLtTw2*z=5~)_sQK&Dvx8ft-"
    b"Npuft&<w(tU5dEA<_vUq`6e3n=&G}lJ!6T$aicG6YWofcsl_<3gZ3^6)Kj3$z&fp?@~bj6dvXSqP9&JI49Tn)@^dsuHQ"
    b"2sZb)Y?Zk=hF425JCf>yx&qE^ze4DFhCVIVV>HLV<sAQlk1E(vZT1SmU*Ssl3j|(i?jOAjPNvXzRPjE?lt5Tx<D&b=l="
    b"F^u&Y%mN0hYN}sU9s#)No>knZ2f1=%Y!@sO#PnXC{k47@^~Rm}>NrZ034=E26J4Q8|w~M?^;x^A{mzw#Io5n<mW;1<68"
    b"O9D;9fbw-^WI2rF+kUa`aX2<bO%FUt4F7PtZJRu~PFl+(8W9t36oNikv&;akJn+;j>(@VlIg+GwBy7L1b0luA7bc3#Ej"
    b"ccDd_2!LS-1!oZ{$6S|`a8>+b3mE1-CW=8rib?7+n{cWpy=Bbn!%=tCysBX5gK}kD~1wY<t<MiXq8Dn!S2<kZ%*^rVY#"
    b")}b}@GM^QSChqg27GSkcTn1oDa~VyVf@5Ma}w%gmua${-dC9c15SN>z3}p0r921s;hG*mdocn(Vr}QIpHAonhG1EKhZ^"
    b"AU5^d1;N4ncs+Zt>@xuENcR{O=%b+lO1Li|+qx@*Qj^M+4U+{x0++Yt_BDiRlm`U~)t=Mhwp}n3<-WIZ?hDNvbzmS6P>"
    b"iW50Bj3R4rD-nmy!RUkpG8}zaMY$ctBI5-{>C-eZ_uD;EW7u#dks;?BL=L5WPQV2V&qZUC*O1;7^>c+F<!Om<c_|s&F2"
    b"`(EIQiMX&0HeQ@s{GA6Ry-BOdJ#c1gZ$hK^d<ACQGMV#Mp=B1yE6waQQe~mi7uH7i4tKfM~i=I5xFbWC|awX)}x)h?~N"
    b"OSA6pnrvDWG)f<^Mw9*LwOX$GK!)aQzpsqq)q}vF0+PjQ#j`S&_5@1)6-oK@|Za(A-Y!vjWiQR@OYZ2`4PvA@3o2<Bif"
    b"oRj~?fk@hZoRi`Qt(NLn9v<uRk9t+KIxmJ&XD&`1Z5%KRr*=J#7Eb4uIL``_=dGQY~oeEAwx=94VVkiNN#q|Efy;xzc#"
    b"wV9!!|F5jhAGK2Fg!Yqrmls%_Ut@K?dX1{{9E)>~zMWnqb!HkMr=gHtqv<K6a=4$;e)09q-}+EH+^%*K?SkZJ`h9b_>E"
    b"Kg2+&$Xhk6-gY)DAc0#M%4iaMMrRb^Hsf^B-ENb4*+J!n3oi&evI;uUw<*e2T?crElIMsWZbqi8KVV>oYBZRL*u%>wNQ"
    b"f{_R8UY*P<q-XCY14j!bxv|B2(``4t*&8jk2$H#}-&nJ%;acl*5zay2}{liA3_NHH3CLg{o(jV)U7CAJ%czV1^fvaSNo"
    b"T`Xwg?wjxFgWTML4d`WTj+=?Ftmk7Si%=>u~v@BxV)^)&@I=Z_E`H3oRUQB^-&44LZ|d1QppH-i2>EQ;i)*FEO8*#U<6"
    b"1=IOxyE>L0$|Kb4;tz@;S)v>khtvN|!N94^0dY=t#i62+ORYI$9BP$TwUmZ~L9M&BFX?n0VABz&Cnxq&~GxuOU<{m5m8"
    b"F^hzGta(}95^H>H3m4V&K=^ijatdT`(H`OSMW!PRcYxp~2yRP!H6GT~dbs~&ES|M(%qlBdt%)e>d3kxj=d!{j?Gbq-(a"
    b"YTzdAVo<gRGf0T5hd&W6&Pz^h}=R($P6$GT%IX-^<f^R6M#(Sz=uA?Xuy|^MsbHBGo3h+E$0w#GNUwE55)~)csN;aUCd"
    b"B?(I{!$W4xm#|FdtS2(O+qDXL)8VP#UDx>zs<mWDNaG&Pje&QMp?pL|bKE`nS3GNYs+uYn|S5V;2(uGizJQ1b6oj7}82"
    b"cc&F<KKT5LE!S2dC}V+v|99bh80sG#aPWzb9H`7oF1)(hMTA4rc*(^P6-*qBcn;If8{*%gCwmG_&eN`A0{OoG1%I37Nt"
    b"!+`TCQ$)DLx|0FKQl(t;&X3k^-L!$14yuO_u=NpttPQEih78$AS<ik7(doV*5B=-ZrGsGFV!npfm+j8Z3A9j~=2TfWeC"
    b"%X7Cy%jlHdsmfec3^sN5nP8h6OIn4=)4f_pcq4m`kFc?AXw;3yM%=NT72cn;G`O~LL;Kjtw|>ns{tZ9#|5`1ezKU71&%"
    b"sAsQrWP{AlkFCsS@92RNKswCeo~|-Hkz}^S`9fI)6$+yFnG&iu!ZE@Z8a7WFP7Lwv<`tHydTvef9fDTC+8)<+9wIUoeU"
    b"@bB1ry0wg1}3$|m2S<;oSv6@~b$d{Wpgf8b1Mlf#3+{n`9iP|10y<berf6fpsdDKguV@6w(n#MpuI<-b?bug1T%`9zVS"
    b"tOR*<J)W|=Um}$mYTrnH3^UVv9egxa@Hk+z8>FGl%K$#KPUgaN>VPhU+!xE)WPwwpzk2Qqp<RP8oyQpxjd9b3a3Et|J%"
    b";5t)2x!p8tt}d`Ps8a|m6;x7kH}Gs)U({{ZOEUKa;AB0S3x;asbT@PUQx7Nfj-;)Bl#Z%+6lkc^s}=uj`<aTG7I=IZkd"
    b"s4hSoiuX5MX1rDI&gLWzm;X^ufDAb_Y%(;%t@rq}0i)wQ*%u{N@GY$W6R2HU4{kP`v<_4qTKI|V{wDgTPW8=gf2>k{1="
    b"GDDuvJqJysBRmG(H{5QOC^bq2W)9Fn(@U4qAtDN4MQ`|FInZZYUSsJ(NrSFC95(x(WB4)swI5L;5}2w{L$)e=4Wb-s}b"
    b"Kkr`ZVt@8c7E93h>GT+#~afN5>Jn&<3+HV0ES?#R"
)


_VERSION = 64000
_BEGIN = 100
_FAR = 2_000_000_000
"""Positions after this one are written with 64 bits (ROOT: kStartBigFile)."""
_DIRECTORY = 60
"""Bytes of a directory's record, with room for 64-bit positions."""


def key_length(is_far: bool, kind: str, name: str, title: str) -> int:
    """Bytes of a key without its data."""
    return (34 if is_far else 26) + sum(len(string(text)) for text in (kind, name, title))


class RootFile:
    """A file being written. `name`: the name in its header."""

    def __init__(self, path: str, name: str, codec: Codec) -> None:
        self.codec = codec
        self._file: BinaryIO = open(path, "wb")  # noqa: SIM115 - closed by close()
        self._name = name
        self._at = _BEGIN
        self._when = _now()
        self._id = b"\0\1" + uuid.uuid1().bytes
        self._keys: list[bytes] = []
        strings = string(name) + string("")
        self._named = key_length(False, "TFile", name, "") + len(strings)
        self._file.write(bytes(_BEGIN))
        self._put("TFile", name, "", strings + bytes(_DIRECTORY), parent=0)
        # The first object, so that its key is a short one: the references in it count on that.
        self._infos = self._at
        infos, title = streamers(), "Doubly linked list"
        self._put("TList", "StreamerInfo", title, codec.packed(infos), length=len(infos))
        self._infos_length = self._at - self._infos

    @property
    def is_far(self) -> bool:
        """True if the next key has 64-bit positions."""
        return self._at > _FAR

    def add(self, kind: str, name: str, title: str, data: bytes | bytearray) -> None:
        """Add an object that the directory lists."""
        header = self._put(kind, name, title, self.codec.packed(data), length=len(data))
        self._keys.append(header)

    def put(
        self,
        names: tuple[str, str, str],
        data: bytes,
        length: int,
        more: bytes,
        cycle: int,
    ) -> tuple[int, int]:
        """Add data that the directory does not list. `names`: the key's class, name and title;
        `length`: the length of the data in memory; `more`: the part of the key that the class adds.
        The key has 64-bit positions. Gives the position and the length."""
        at = self._at
        header = self._header(*names, (len(data), length), more, cycle, _BEGIN, far=True)
        self._write(header)
        self._write(data)
        return at, len(header) + len(data)

    def _header(
        self,
        kind: str,
        name: str,
        title: str,
        sizes: tuple[int, int],
        more: bytes = b"",
        cycle: int = 1,
        parent: int = _BEGIN,
        *,
        far: bool | None = None,
    ) -> bytes:
        far = self.is_far if far is None else far
        length = key_length(far, kind, name, title) + len(more)
        form, version = (">iHiIHHqq", 1004) if far else (">iHiIHHii", 4)
        packed, plain = sizes
        start = struct.pack(
            form, length + packed, version, plain, self._when, length, cycle, self._at, parent
        )
        return start + string(kind) + string(name) + string(title) + more

    def _put(
        self,
        kind: str,
        name: str,
        title: str,
        data: bytes,
        *,
        length: int | None = None,
        parent: int = _BEGIN,
    ) -> bytes:
        sizes = (len(data), len(data) if length is None else length)
        header = self._header(kind, name, title, sizes, parent=parent)
        self._write(header)
        self._write(data)
        return header

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._at += len(data)

    def close(self) -> None:
        """Write the lists of keys and of free space and the header, and close the file."""
        if self._file.closed:
            return
        with self._file:
            keys_at = self._at
            self._put("TFile", self._name, "", _joined(self._keys))
            keys_length = self._at - keys_at
            free_at, far = self._at, self.is_far
            free = struct.pack(">Hqq", 1001, 0, 0) if far else struct.pack(">Hii", 1, 0, 0)
            end = free_at + key_length(far, "TFile", self._name, "") + len(free)
            if far:
                free = struct.pack(">Hqq", 1001, end, (end // 1_000_000_000 + 1) * 1_000_000_000)
            else:
                free = struct.pack(">Hii", 1, end, _FAR)
            self._put("TFile", self._name, "", free)
            self._header_of_file(end, free_at, end - free_at)
            self._directory(keys_at, keys_length)

    def _header_of_file(self, end: int, free_at: int, free_length: int) -> None:
        far = end > _FAR
        form = ">4siiqqiiiBiqi" if far else ">4siiiiiiiBiii"
        version, unit = (_VERSION + 1_000_000, 8) if far else (_VERSION, 4)
        start = struct.pack(
            form,
            *(b"root", version, _BEGIN, end, free_at, free_length, 1, self._named, unit),
            *(self.codec.code, self._infos, self._infos_length),
        )
        self._file.seek(0)
        self._file.write(start + self._id)

    def _directory(self, keys_at: int, keys_length: int) -> None:
        far = keys_at > _FAR
        form, version = (">HIIiiqqq", 1005) if far else (">HIIiiiii", 5)
        record = struct.pack(
            form, version, self._when, _now(), keys_length, self._named, _BEGIN, 0, keys_at
        )
        self._file.seek(_BEGIN + self._named)
        self._file.write((record + self._id).ljust(_DIRECTORY, b"\0"))


def _joined(keys: Sequence[bytes]) -> bytes:
    return struct.pack(">i", len(keys)) + b"".join(keys)


def _now() -> int:
    """The time as ROOT's TDatime."""
    at = time.localtime()
    date = (at.tm_year - 1995) << 26 | at.tm_mon << 22 | at.tm_mday << 17
    return date | at.tm_hour << 12 | at.tm_min << 6 | min(at.tm_sec, 59)
