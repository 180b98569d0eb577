"""The layout of a tree's classes in a file (TStreamerInfo), which every file has so that readers of
other versions of ROOT understand it. The bytes are those that ROOT 6.40 writes for a tree with
every kind of leaf; tools/streamers.py makes this module anew. Data only.
"""

from __future__ import annotations

import base64
import zlib

__all__ = ["streamers"]


def streamers() -> bytes:
    """The list of a file's TStreamerInfo, as it lies after a key of 64 bytes."""
    return zlib.decompress(base64.b85decode(_PACKED))


_PACKED = (
    b"c-rk;d5|1c8SmX}4zf9cgm8t&2<&bk5RPyJ7PD7yWs}A1gaF}4&-Ck^PI|g0-95Wm63iwVkQ)OccOjNimPjF#f?7o(Dp"
    b"G0{R{58IcolzGR#8%xmj0oF-}k+*XS(Oebdv>Ag;QJ8=k)LQzVp5Bz25cO(Bs-{txb!3PFk-W>%I@4>{#GQy(qn5$8<F"
    b"~d%ZS)y`~)px2qq(_v~!elT!1HKkkDQ$HPq*(N9NnJNi6NpTeJIv{`Y4)A0+QbZ-o$U-u=Roz!N*cTwwr?<*@<@R^g{1"
    b"os)MvIQw}x^MZybUmR92hR#Ow?pOw(Tzvvh`<VL*#kcs&}u$^c=@weM2|cA`^JW_F#u;yYub-tdoxkU5`{CP6y|07f?&"
    b"jQ<YN31dJuS4t{g~TYw&q!?$B@}q;`1fPDaWT()EP2st##`W!uN&m(W2*E#Th&?W#k~;C3)vj^M5%xSlB7e1zMmdpo7K"
    b"RBc+I^_+V5JB`rr`Fm>hYUQ(2B~tEoqH_Zg=!&)19C83p`b#&Ji#dRIO(E48xVi-I&<^vNH{v?u7hiNs0MC73T5Eq4wq"
    b"GKw1B5ji#X82!x<UUGwCqyY(QV;WAai(DSdP#^=s8b!@&!1~Nw732@@}!@N#D0zCoQM@nbRG_X+Lq=6z6n<RU%H8B;%x"
    b";0bD);N<LHCNt7f}x*$ra(;U+$q(P)ktZGFs2d<A76tT3hyBW5m43l6liNY>4H`ryrz`&=(fmfUA+6Tj)U~Gr53-#D@&"
    b"8^ZJF9aEkYGRW1MYj+86zA5h8<T;$qla-1i#^A1%Q;&%L0%U{USwu13bmls3Ef^vN1$|dh}thg9I$+ucO3&8J`0`haNx"
    b"7x$LNfV>=UvItDla!zB!iHoeh?>jjpP&y|PoW`;rG%7Ff<W(!iTjz`G1TPVhRxUl<qpmXe_da;4e`)04Z((#cOzbjP4D"
    b"HR8IZ6p)WG<ROB*hahi`LM}H4rKy+gfSx{Tn!XH1q_b|=u>uQ(4g2Fk0i|F@?ht_vx<nBKDgo_;bGfo<N-vE*o@91kA$"
    b"Io@J3Vd*n+CwhLGhb)XIu_db;75Ghvz9E7zQwQfssq3T*yg=G$A#igNUv^@ECHYE;Po31Y3rxPIIHao1^tw*tLq~VkBH"
    b"~)JA@JNa=VgZ+ZE$t$Pu1rSjWprnH+VdG$8DFr-Abaz=AfASkfrJVea29PVNc2Z+O7;xHWLuoyX9Yk5Igx5uno<vAgXf"
    b"a19irzn~$5s00#6p&lXqU%kiW%E3<`6jV>n%ETM`2>}Z0sPuN4%i}~pjMEMs9dZFX412Q0Iq<~t*&0}4)cpNdN>b(_>6"
    b"L18fh87#Eid9jK4vQy?7j|nClIFl~7+xnyxoztuD_X?c165=ZW@iqCFHB^pGD|MF?HzZfaz1lCO$_<p=J#rx%576|Eq("
    b"0lr$_tGdRe1fh`$RK0a$l;09F7EK)EylwFSbCVd+{eUP>QJNL`Xq-70o^fd_p2vhdSK%n2CW5Ik0`U6bwAT49Y+od<4-"
    b"(f~qFfh*T+x4q>UeHy6l0{GFH{(-0l~O60X8wy>|ct>f0TwBeGZOrv`45xhp0i<#zW=s=mx0=WiZCx;Zb4oJ{pD!)I`~"
    b"lllIi=(3n+ffgYY?RJwcEjw{uWtNCZ?=F!pYx^>wqCh(bRKwG1ngPgb3_r#Ae`x$h}2$(F2J3Ikbd)3hGFv6^i{V-TgY"
    b"m3f;?X3hB5ZL;7_8*ZDX#BGWEf0rpC1uehAj>hV3Cn<R%3=^U-J6=lvkgQLah>Qm;dAjZNuO;&3iB@y1)-~BQkvWy_Pl"
    b"*m84f{J*MK5cRB`KD_7k%RunJ@Nw6@Tt?sz*n2Xa~+cadSokh`zd?XvWb8*{w?fGs>FCg>a+%8J9`&CQZ%2Gz)r0CNO*"
    b"WBovMjsjdx-zWoLVWvhK#`rX?E$%_1Bs9Oi8$91cZzHS>t0?T;kXRLqZVOc5O!Xv@?V>E_Wcn$}c#=uDM8YBxm&WzJ0i"
    b"p|ZvoobC1)EL4q)S5DvItSgPp97d89Lgxx+d;?TYOb;xh#UMSJ2Bo20*f42oS#S<}DqyK{B#@LDiU4l)lK6_7bIudKaC"
    b"~@nEwwyVaiX%cT-n0gebzGg-KlrOt60#dKyX&s~Lxho&JM!S*hyG94eSGI8Z6tlhN1T?X9!Fl=wEEiTRC;?g*mJZ_<q#"
    b"1?ATS+UTQRgqvRrBZ>hlO+om`)k=gaPn)bo0W}%SbTvk2u34sYNv#N&}T%UXPelbrChSI3@{|iv>+O3T3>5#QUF*?nbw"
    b"ZGlj=E$vzc&2+;_8B2V1~ER1`~tfofUHYFSNcSr%1GD8W!TsFyiPFWP&xdTD391l*yriL^<i&#Q3($ATf?@ZbvOU8du>"
    b"oEEkk%`AWctTpaXbPQBvCERFa?T#y@A9`iWa#kQr91IITfFufiOxMF+<Kk3+D7h(?+%A&b@~Gr0b;Php2%Or6*`)iLne"
    b"=vULR8<GxU1qb2VC3r=2L+(kGm}V_QR2%?H9nIlVgkpQ?^tXKJI=P7+WnPC@73c+)a*w(m#!*e?k-KV_7w<nIesM*>L~"
    b"d%y1>MzKL$%THkS+Z{jma`irYY+w>|(2t+D~0HxFe%IF}==r)qkil~et1>vyP3vsk<jBWJlW;SXt`DpArE8c-oPbE1m;"
    b"97HfAtlBkF@-qkZ8gU@HxN#?K9+ZeI51@C3}Ij&AJQsh%r<RTr{4JYlqR(AkS0!xYNEbZubuR@^OkV#*~?}d)GDNn6|#"
    b"*RFh&j7NDWvP?}87H_N(!z*4b)^v9J>4@&z4x&z(O|%sao^C_ktSuPyoNUC-f<;kLUJ-_8TIe3vudeVn&H#%Z9Bcyh*L"
    b"4eg*KgWxWXXT$-nXPh=rt@p!dXhPaFO4RLf7Y2`oVv0Isqw@bHal`JXfhZdG%CIy###Jn#u8DrCW~G3AkYVp8*n<SSHC"
    b"{&hII6NGrd1$XIiht@Je+I=2}{-Nlc-|CU|eM6(R&Kamh)5#R6|wSW9>lM^PmI7g&Icfwvh?eeNC`L>U*exfEs`Hq%AV"
    b"t$-}|@#A#1`r8Qd7I4fGwsMay^;0`z@;X1|#FI|`{pqq)zb@hHY*HlKZjBNpIBhvU3swgv3k&wm->9V?-cRv?q>dVXF7"
    b"2g%6?xiTUk2CNs1gt{M*)@}JCEEf=0AD{g9Dd;$<^Cz!SYW7+VhZ*EV@2yeeeq^(usmN)z;svP(1%UDz*Zi&=CmyCV-~"
    b"j)i|P8>Xmuj^;=@k5s=Ct*OatG`j1Cf`eZ**_@ig$-B#e%D5_k_6=%TZOmo=^iW>#M*Y72t(9+$2%H_7nPQq0;$^+6E<"
    b"=e8dq^b|wyQtL75^WQwqfBxwa?65X_gy0WzCHy`DFV*|U0tP2j=-L*EJ~u@YVTFx@;UBx4XSWIl9S{t#%)Kxg(ZY@zPR"
    b"uZ~CnFYmbt7ivy64B4sUi?&=(rD4jb4#WU5{@@^hqYF=20h!=s?5%i<CQ8#d-D_2F(unjfFTf1fS;WOmuQ!d)&34_b9P"
    b"5JB(jSZZ=JJL6iyS388Zd!xo4;hUm^@gk_>YeY~G;)>X|<6r^rQuP1GF=M5eKzS^kh2CiogYoFio{E1xLd4xxQ4>TM7?"
    b"ctuYPd#U=zP>w~9@>Rp>x3cwyl0hY2Ad|HIKLTspo;)k3^n)^SMJ~3tS5adhgXk|?E108JaePvVD9ebttw-qR3WOE;mk"
    b"TD@{-JBsmVx@V3VM$o<n!ogP19FkbQ@tRM~N3qg8q+@KAKXuHzD=$&T}CH97a_8HVj=c}6D-VpFdjkQ|%~tGx%)+6~aQ"
    b"3XfrdJ{%gLgu8sQt#eZ-wNbgUX0iZC;PST2rkYfZ@}MLUwdbU`Ef)-hecv;=?+eWwuwfwJQ;w-90Bj3R_M||5pOODX$b"
    b"Tc`*W)c7_GxPLx$fS;i`Z`gf|0JQ_#Eg5+qn1xMDI;nzU(<yh%5>N{^YK*1(uJ4nZSi!70x5*q6?pqcgs%D1@~?sV<Nj"
    b"9Qko<!hD%>Swnd!+2Ru*D<NS_2rQ&3$aE`?MYt;F%twtdoIoGwDcye#eD9GQ!m5?*4QV5G9^{r2X{y5LbJV@yG68eob<"
    b"xvpJ0E%ibGD(If1ql$jOz56P>6rbYdr}I+6^;x2m`Noex>qHQBojvPc$%nrlXJ#v&2mP+ws_^$H*?N-jC01JqcmqUS|4"
    b"}hIiszmvax=a5I%j<NCuC}`~@rX^=8T()0Qpx>szeMCs>&e9i__L%hC+!$eAH!Ca)GJ!B4Nv6cznnvpU~wrp^)V_ZQ5|"
    b"u{xh&bv|~Ks&gNUbCQmB&5$}%4Um&iNUzc46cPp8tF(8XJ>}(3binOsCD9J(9F2cy0XG?ZqJX<WTlc#sy-#$&O*nD(p#"
    b"|LJ6L)RDVs-wsnK}oxrT5)2!Rma9)%oyIs?OV3oMk$4XGonX-jhf|AiX}55=azmN456nKl7VUbg)f4l=*OiZ8G>o<*fn"
    b"j-*3P8_y3o-j{5SJ#;Vj_ZCKv2{6MpQ_LCo>4&d^myei_$%~nP1W=)nzlV*MOe^GW!?iz4yTjo)LCy%MOk|YhO^Of_Wu"
    b"YaHs>;Kr7ztKpI1pXE`<>%CtQ=(0&fvr4eM%vVwtv-2Wbyw&)Kk)QC&1gg8Y~63ThGFa5zkH%mn`WV>J<gu?AhqelXq%"
    b"$2;X`mOQGwlU`%$oj)8b-%bX9y${gTb)4j1ZG`J~dSbn7--z7sdwq;(dN*Owy2%ouE9_ZeZE8*H>phvx&dw%|k#HK($%"
    b"Evway#zx$>h85o3Xzf^KWv}+B?Jxb8W&9pL^PkOD*d@@ndhpUPl5&KlwPST3UUgKb?}cj34b|A9Yi?>*p@xf^SCr!G&?"
    b"~E*la$ToSMJ8rS^Hm<(Axh*LOUTUv}3Bzz30wt2bGVszoKN;{z9$HW`FcPlGJRCa<Qo1-puLwos+s}&<wR6SUJnKf~gc"
    b"a=NVShV+8q7{ToB`%xiR972^-<s_bnFb)vFJUUbWG_4aPKCPoxo+X&aLd(xC12KI2y!cV5wa55K{(C=cF7O~6|%Qf+J*"
    b"rSt<^iENl!1}9##|8UotZ5$W5<#DeFFMbT;Lq<=@81)H{`d=$*QnPXui7#^=yz?wZxmLRPvc?PSL=sZq;LxK{*P91ZP5"
    b"e}a=j~jiXq`bpI!_RuW*QXp^>#${zJsKo|2n6Biz9mVPCV1@Uf-sCJV^Vk53AWxRcWBcgv2kf_6m?_rrWa7MjBNrx-B0"
    b"LZLVAZ@3O^m3n=TCrNO92zf%@bpqWYL(`qA$0tn~Z3oD{sAC03LG{0ctk*j6ZIn@SbJ?bqLCEg=;eY+8zWwm^DAk9tzu"
    b"OD8Y6#ygdwDs4y^P)rIc7!#x;HL^__+z`;fj{t%(m6%Uwl)Bf7hD{@9xbsevLZ=O*i1aJ)-e-(JRhhvu4fZ;<k*Sm-nW"
    b"%!FzByUX<?_j*Rc6jrqo2ER67sod<qQPWvAx>+jz"
)
